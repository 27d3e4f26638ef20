// The wrappers themselves: code that stands in front of a kernel, one per ABI class.
//
// Note [ABI classes]
// Calling a kernel through another function type is undefined by the standard and
// defined by the Itanium C++ ABI on x86-64: every reference, every non-trivial object
// passed by value and every integer of at most 8 bytes travels as one word (W);
// {pointer, length} and optional<int64_t> as two (P); optional<ArrayRef> as 24 bytes of
// memory (M); double as D; optional<double> as O. Objects with a destructor are returned
// through a hidden slot whatever their size (S). The facts about each type are asserted
// in signature.cc. So a few hundred trampolines serve three thousand ops, and this file
// needs no torch header.
#pragma once

#include <atomic>
#include <cstdint>

namespace nanscope::torch_adapter {

// What a trampoline needs of the wrapper it was called with: the former kernel.
struct FormerKernel {
  void* function;
  void* functor;
};

// One call in flight that is looked at, on the wrapper's own stack. Between its making and its end
// stands `enter`.
struct Call {
  void* wrapper = nullptr;
  const void* const* arguments = nullptr;  // one address per argument slot
  Call* outer = nullptr;
  void* before = nullptr;  // what was kept of the inputs, if anything
  bool inner = false;      // inside another kernel: part of that op
  bool closed = false;     // the kernels that it calls are part of this op: none is asked about
  bool returned = false;

  inline void enter(void* wrapper_, const void* const* arguments_);
  inline void leave(void* result);
  inline ~Call();
};

// Set while the watch is on. Read on every op, written by on() and off().
extern std::atomic<int> watching;
// The innermost call of this thread; initial-exec, so it must stay small.
extern __thread Call* innermost_call __attribute__((tls_model("initial-exec")));

// The seam to the watch, which is built on this room and looks at each call: watch/calls.cc.
void call_begins(Call& call);                  // may keep copies of inputs
void call_returned(Call& call, void* result);  // may throw, after destroying the result
void call_unwound(Call& call) noexcept;        // the kernel threw

// A call that begins now is looked at: the watch is on, and it is no part of another op.
inline bool is_looked_at() noexcept {
  return __builtin_expect(watching.load(std::memory_order_relaxed), 1) &&
         (innermost_call == nullptr || !innermost_call->closed);
}

inline void Call::enter(void* wrapper_, const void* const* arguments_) {
  wrapper = wrapper_;
  arguments = arguments_;
  outer = innermost_call;
  innermost_call = this;
  call_begins(*this);
}

inline void Call::leave(void* result) {
  returned = true;
  call_returned(*this, result);
}

inline Call::~Call() {
  innermost_call = outer;
  if (__builtin_expect(!returned, 0)) call_unwound(*this);
}

struct AbiClass {
  const char* name;  // return class ':' argument classes
  void* trampoline;
};
extern const AbiClass kAbiClasses[];
extern const int kAbiClassCount;

}  // namespace nanscope::torch_adapter
