#include "adapters/torch/interpose/trampoline.h"

#include <cstddef>
#include <tuple>
#include <utility>

#ifndef NANSCOPE_FORMER_KERNEL_OFFSET
#define NANSCOPE_FORMER_KERNEL_OFFSET 16  // asserted in wrap.cc
#endif

namespace nanscope::torch_adapter {
namespace {

using W = std::uint64_t;
struct P {
  std::uint64_t a, b;
};
struct M {
  std::uint64_t a, b, c;
};
using D = double;
struct O {
  double value;
  bool present;
};
using R = std::uint64_t;
using V = void;

// The copy is declared and never defined: if the compiler did not pass the caller's
// result slot through to the kernel, the link would fail.
struct S {
  char raw[8];
  S(const S&);
  ~S() {}
};

template <std::size_t... I>
auto references(std::index_sequence<I...>)
    -> std::tuple<std::conditional_t<(I + 1 > 0), int&, int>...>;
template <std::size_t N>
using Q = decltype(references(std::make_index_sequence<N>()));
using Q2 = Q<2>;
using Q3 = Q<3>;
using Q4 = Q<4>;
using Q5 = Q<5>;
using Q6 = Q<6>;
using Q7 = Q<7>;

const FormerKernel& former(void* wrapper) {
  return *reinterpret_cast<const FormerKernel*>(static_cast<char*>(wrapper) +
                                                NANSCOPE_FORMER_KERNEL_OFFSET);
}

// A call that nobody looks at goes straight on: no address of an argument is taken. The former
// kernel gets the caller's result slot in both.
template <class Ret, class... A>
struct Trampoline {
  using Kernel = Ret (*)(void*, std::uint64_t, A...);
  static Ret call(void* wrapper, std::uint64_t keys, A... a) {
    if (is_looked_at()) return watched(wrapper, keys, a...);
    const FormerKernel& kernel = former(wrapper);
    return reinterpret_cast<Kernel>(kernel.function)(kernel.functor, keys, a...);
  }
  static Ret watched(void* wrapper, std::uint64_t keys, A... a) {
    const void* slots[] = {&a..., nullptr};
    Call call;
    call.enter(wrapper, slots);
    const FormerKernel& kernel = former(wrapper);
    // One variable in the outermost scope and one return: the slot is passed through.
    Ret result = reinterpret_cast<Kernel>(kernel.function)(kernel.functor, keys, a...);
    call.leave(&result);
    return result;
  }
};

template <class... A>
struct Trampoline<void, A...> {
  using Kernel = void (*)(void*, std::uint64_t, A...);
  static void call(void* wrapper, std::uint64_t keys, A... a) {
    if (is_looked_at()) return watched(wrapper, keys, a...);
    const FormerKernel& kernel = former(wrapper);
    reinterpret_cast<Kernel>(kernel.function)(kernel.functor, keys, a...);
  }
  static void watched(void* wrapper, std::uint64_t keys, A... a) {
    const void* slots[] = {&a..., nullptr};
    Call call;
    call.enter(wrapper, slots);
    const FormerKernel& kernel = former(wrapper);
    reinterpret_cast<Kernel>(kernel.function)(kernel.functor, keys, a...);
    call.leave(nullptr);
  }
};

}  // namespace

std::atomic<int> watching{0};
__thread Call* innermost_call = nullptr;

#define ABI_CLASS(name, ...) {name, reinterpret_cast<void*>(&Trampoline<__VA_ARGS__>::call)},
const AbiClass kAbiClasses[] = {
#include "abi_classes.inc"
};
#undef ABI_CLASS
const int kAbiClassCount = sizeof kAbiClasses / sizeof *kAbiClasses;

}  // namespace nanscope::torch_adapter
