// What is kept of an op's inputs before an in-place op destroys them.
#pragma once

#include <memory>
#include <vector>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/interpose/tensors.h"
#include "scan/correspond.h"

namespace nanscope::torch_adapter {

struct Before {
  // An input that was bad already.
  struct Bad {
    std::size_t argument;
    int item;
    TensorState state;
    std::vector<EventId> known;
    KindMap kinds;
    std::optional<OpRecord::Read::Allocation> allocation;
  };
  // The operand that is about to be overwritten, copied.
  struct Kept {
    std::size_t argument = 0;
    int item = -1;
    std::vector<std::byte> bytes;
    OwnedView view;  // over the bytes
  };

  std::vector<Bad> bad;
  Kept copy;
  const Kept* kept = nullptr;  // `copy`, if there is one

  [[nodiscard]] const Bad* find(std::size_t argument, int item) const;

  // Each thread keeps one for the next call: nothing is allocated once it has grown.
  static Before* take_spare();
  static void give_back(Before* before) noexcept;
};

struct GiveBack {
  void operator()(Before* before) const noexcept { Before::give_back(before); }
};
using KeptBefore = std::unique_ptr<Before, GiveBack>;

// Nothing where nothing needs to be kept.
[[nodiscard]] KeptBefore look_before(const Wrapper& wrapper, const Call& call);

}  // namespace nanscope::torch_adapter
