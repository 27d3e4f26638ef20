// An op that is judged later than it ran: where the program was then, and what its memory held.
//
// Note [Judged as it was then]
// An op on a device may be judged when the program is further on (device/window.h). While that is
// done, the thread says so here, and whoever asks for the place of the op, or for bytes of a
// device, is answered as of then. Null on every thread that judges what it has just run.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "adapters/seams/torch_api.h"
#include "origin/place.h"

namespace nanscope::torch_adapter {

struct Saved;

// What nodes saved that may have run since.
class SavedThen {
 public:
  virtual ~SavedThen() = default;
  // False where it is not known: the node is asked.
  [[nodiscard]] virtual bool find(const torch::autograd::Node* node, Saved& saved) const = 0;
};

struct Then {
  Place place;
  std::uint32_t stack = 0;  // of the call itself
  bool grad = false;        // grad mode was on
  bool is_now = false;      // the frame that called it is the one that runs
  // In a backward: the node that ran, and where in the forward it was made.
  std::optional<WeakNode> node = std::nullopt;
  std::uint32_t forward = 0;
  const SavedThen* saved = nullptr;
  // Where on the device the memory of these storages is to be read.
  using Places = std::vector<std::pair<const c10::StorageImpl*, const std::byte*>>;
  Places places;

  // Null where nothing else is known: it lies where it is now.
  [[nodiscard]] const std::byte* place_of(const c10::StorageImpl* storage) const noexcept {
    for (const auto& [known, place] : places) {
      if (known == storage) return place;
    }
    return nullptr;
  }
};

}  // namespace nanscope::torch_adapter
