// What is kept of an op's inputs before the op destroys them.
//
// Note [Overwritten operands]
// An in-place op destroys the operand that it also writes. So does any op one of whose operands
// lies in the memory that it writes: torch.log(x, out=x), x.div_(x), x.add_(x[0]). Nothing that is
// read of such an operand after the call is what went in.
#pragma once

#include <memory>
#include <vector>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/interpose/tensors.h"
#include "scan/correspond.h"

namespace nanscope::torch_adapter {

struct PutOff;

struct Before {
  // An input that was bad already.
  struct Bad {
    std::size_t argument;
    int item;
    TensorState state;
    std::vector<EventId> known;
    KindMap kinds;
    std::optional<OpRecord::Read::Allocation> allocation;
    bool from_other_device = false;
  };
  // The operand that is about to be overwritten, copied; others may be the same tensor.
  struct Kept {
    std::size_t argument = 0;
    int item = -1;
    std::uint64_t same = 0;  // arguments that are the same memory, by bit
    std::vector<std::byte> bytes;
    OwnedView view;  // over the bytes
  };

  std::vector<Bad> bad;
  Kept copy;
  const Kept* kept = nullptr;     // `copy`, if there is one
  std::uint64_t overwritten = 0;  // operands in memory that the op writes, by bit
  bool tangled = false;           // one of them is another part of that memory
  std::size_t storage_bytes = 0;  // of what resize_ may make larger
  // Of an op that is judged later: watch/put_off.h. Then nothing of the above is known yet.
  std::unique_ptr<PutOff, void (*)(PutOff*)> put_off{nullptr, nullptr};

  [[nodiscard]] const Bad* find(std::size_t argument, int item) const;
  // The copy, if it is one of this operand.
  [[nodiscard]] const Kept* kept_of(std::size_t argument, int item) const;
  [[nodiscard]] bool overwrites(std::size_t argument) const {
    return has_bit(overwritten, argument);
  }
  static bool has_bit(std::uint64_t bits, std::size_t argument) {
    return argument < 64 && (bits >> argument & 1) != 0;
  }

  // Each thread keeps one for the next call: nothing is allocated once it has grown.
  static Before* take_spare();
  static void give_back(Before* before) noexcept;
};

struct GiveBack {
  void operator()(Before* before) const noexcept { Before::give_back(before); }
};
using KeptBefore = std::unique_ptr<Before, GiveBack>;

// Dividing by an ordinary number breaks nothing that the result does not show.
[[nodiscard]] bool divides_by_ordinary_number(const Wrapper& wrapper, const Call& call);
// It destroys this operand, of which a copy is to be kept.
[[nodiscard]] bool keeps_copy_of(const Wrapper& wrapper, const Call& call,
                                 const at::Tensor& target);
// What is written may lie in the memory of another operand, or was written by no watched op.
[[nodiscard]] bool writes_what_is_not_known(const Wrapper& wrapper, const Call& call);
// Nothing where nothing needs to be kept.
[[nodiscard]] KeptBefore look_before(const Wrapper& wrapper, const Call& call);

}  // namespace nanscope::torch_adapter
