// An op that is judged later than it ran: where the program was then, and what its memory held.
//
// Note [Judged as it was then]
// An op on a device may be judged when the program is further on (device/window.h). While that is
// done, the thread says so here, and whoever asks for the place of the op, or for bytes of a device,
// is answered as of then. Null on every thread that judges what it has just run.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "origin/place.h"

namespace nanscope::torch_adapter {

struct Then {
  Place place;
  std::uint32_t stack = 0;  // of the call itself
  bool grad = false;        // grad mode was on
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
