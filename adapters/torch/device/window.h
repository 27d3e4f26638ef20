// Ops of a device whose looks are under way: the program runs ahead of them, within bounds.
//
// Note [The window]
// After a kernel a look at its result is put into the same stream, and the op waits here, with the
// memory of its operands (device/kept_memory.h) and what else is known of it only now. When the
// window is full (so many ops, or so many bytes kept), the looks of all of them are brought to the
// host by one copy, which is the only wait. Where all went well, that was all. At the first bad
// one, it and all ops after it are judged in the order of the program, by the code that serves the
// CPU, each as it was then: Note [Judged as it was then].
//
// The order of the program is what makes this right. Whatever else is about to be told to the judge
// (an op that is not put off, a moment, a value that the host reads) settles the window first. An
// op is put off only if nothing of what it takes is known to be bad: then what is known when it is
// launched is what would be known without the window, but for what the window itself holds.
//
// A bad look closes the window: from then on each op is looked at at once. It opens again when an
// optimizer steps and nothing bad is left.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class KeptSaved;

// What those that are judged together know of nodes that have run, by node.
using SavedByNode = std::unordered_map<const void*, const KeptSaved*>;

// One that has run and was not judged.
class OpInFlight {
 public:
  virtual ~OpInFlight() = default;
  // Something is bad: what it needs is brought back, before any is judged.
  virtual void revive(SavedByNode& saved) = 0;
  virtual void judge(const SavedByNode& saved) = 0;

  // The looks that were put into the stream, as norm_on_device gives them.
  std::vector<at::Tensor> looks;
};

class Window {
 public:
  // As the environment says: NANSCOPE_WINDOW, in ops, and NANSCOPE_WINDOW_BYTES. None: no op is put
  // off.
  Window();

  // An op may be put off now. Any thread.
  [[nodiscard]] bool is_open() const noexcept {
    return most_ops_ != 0 && !closed_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_empty() const noexcept {
    return waiting_.load(std::memory_order_relaxed) == 0;
  }
  [[nodiscard]] std::size_t most_bytes() const noexcept { return most_bytes_; }

  // Judges what waits, if the window is full by now.
  void add(std::unique_ptr<OpInFlight> op);
  // What waits is judged now. Waits for the device once, if there is something. Never with a lock
  // of ours.
  void settle() {
    if (__builtin_expect(!is_empty(), 0)) settle_all();
  }
  void reopen() noexcept { closed_ = false; }
  // Nobody watches any more.
  void forget();

  // For tests: ops that were put off, waits, ops that were judged late.
  struct Counts {
    std::uint64_t put_off = 0;
    std::uint64_t waits = 0;
    std::uint64_t judged = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  using Ops = std::vector<std::unique_ptr<OpInFlight>>;
  void settle_all();
  [[nodiscard]] Ops take();

  std::size_t most_ops_ = 0;
  std::size_t most_bytes_;
  std::atomic<bool> closed_{false};
  std::atomic<std::size_t> waiting_{0};
  mutable Lock lock_{LockRank::kWindow};
  Ops ops_;
  Counts counts_;
};

}  // namespace nanscope::torch_adapter
