// A CUDA grid on the CPU: the text of a kernel, compiled by g++, with fibers for threads.
//
// The threads of a block take turns at each barrier and shuffle; blocks run one after the other, in
// a shuffled order. One grid at a time.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fake_cuda {

struct Dim {
  unsigned x;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline Dim threadIdx, blockIdx, blockDim, gridDim;

class Grid {
 public:
  static constexpr unsigned kMostThreads = 1024;
  static Grid& get() {
    static auto& grid = *new Grid;
    return grid;
  }

  void run(unsigned blocks, unsigned threads, std::function<void()> kernel) {
    kernel_ = std::move(kernel);
    gridDim.x = blocks;
    blockDim.x = threads;
    std::vector<unsigned> order(blocks);
    for (unsigned block = 0; block < blocks; ++block) order[block] = block;
    for (unsigned block = blocks; block > 1; --block) {
      seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[block - 1], order[(seed_ >> 33) % block]);
    }
    for (const unsigned block : order) {
      blockIdx.x = block;
      run_block(threads);
    }
  }

  // The thread waits until all others of its block have come as far.
  void yield() {
    const Dim me = threadIdx;
    if (_setjmp(fibers_[me.x].state) == 0) _longjmp(scheduler_, 1);
    threadIdx = me;
  }
  unsigned shuffle_xor(unsigned value, unsigned mask) {
    exchange_[threadIdx.x] = value;
    yield();
    const unsigned other = exchange_[threadIdx.x ^ mask];
    yield();
    return other;
  }

 private:
  static constexpr std::size_t kStack = 32 << 10;
  struct Fiber {
    jmp_buf state;
    bool began = false;
    bool ended = false;
    std::unique_ptr<char[]> stack;
  };

  Grid() : fibers_(kMostThreads) {}

  static void begin() {
    Grid& grid = get();
    grid.kernel_();
    grid.fibers_[threadIdx.x].ended = true;
    _longjmp(grid.scheduler_, 1);
  }

  void run_block(unsigned threads) {
    for (unsigned thread = 0; thread < threads; ++thread)
      fibers_[thread].began = fibers_[thread].ended = false;
    for (bool any = true; any;) {
      any = false;
      for (unsigned thread = 0; thread < threads; ++thread) {
        if (fibers_[thread].ended) continue;
        any = true;
        go_on(thread);
      }
    }
  }

  void go_on(unsigned thread) {
    threadIdx.x = thread;
    Fiber& fiber = fibers_[thread];
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.began) _longjmp(fiber.state, 1);
    fiber.began = true;
    if (fiber.stack == nullptr) fiber.stack = std::make_unique<char[]>(kStack);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack = {fiber.stack.get(), 0, kStack};
    context.uc_link = nullptr;
    makecontext(&context, &begin, 0);
    setcontext(&context);
  }

  std::function<void()> kernel_;
  std::vector<Fiber> fibers_;
  jmp_buf scheduler_;
  unsigned exchange_[kMostThreads] = {};
  std::uint64_t seed_ = 1;
};

// What the kernel's text calls.
inline void __syncthreads() { Grid::get().yield(); }
inline unsigned __shfl_xor_sync(unsigned, unsigned value, int mask) {
  return Grid::get().shuffle_xor(value, static_cast<unsigned>(mask));
}
inline unsigned atomicMax(unsigned* at, unsigned value) {
  const unsigned old = *at;
  if (value > old) *at = value;
  return old;
}
inline unsigned atomicAdd(unsigned* at, unsigned value) {
  const unsigned old = *at;
  *at += value;
  return old;
}
inline unsigned atomicExch(unsigned* at, unsigned value) {
  const unsigned old = *at;
  *at = value;
  return old;
}
inline void __threadfence() {}
inline void __threadfence_system() {}

template <int kBits, class Fn>
unsigned by_lane(unsigned a, unsigned b, Fn fn) {
  constexpr unsigned kMask = (1u << kBits) - 1;
  unsigned all = 0;
  for (int at = 0; at < 32; at += kBits)
    all |= (fn(a >> at & kMask, b >> at & kMask) & kMask) << at;
  return all;
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return by_lane<16>(a, b, [](unsigned x, unsigned y) { return x > y ? x : y; });
}
inline unsigned __vmaxu4(unsigned a, unsigned b) {
  return by_lane<8>(a, b, [](unsigned x, unsigned y) { return x > y ? x : y; });
}
inline unsigned __vcmpeq4(unsigned a, unsigned b) {
  return by_lane<8>(a, b, [](unsigned x, unsigned y) { return x == y ? ~0u : 0u; });
}

#define __device__
#define __forceinline__ inline
#define __global__
#define __shared__ static
#define FAKE_CUDA_PROBE "../../adapters/torch/device/cuda_probe.cu"

// The kernels of each type, as dense_F32 and so on.
#define T F32
#define dense dense_F32
#define strided strided_F32
namespace of_F32 {
#include FAKE_CUDA_PROBE
}
#undef T
#undef dense
#undef strided
#define T F64
#define dense dense_F64
#define strided strided_F64
namespace of_F64 {
#include FAKE_CUDA_PROBE
}
#undef T
#undef dense
#undef strided
#define T F16
#define dense dense_F16
#define strided strided_F16
namespace of_F16 {
#include FAKE_CUDA_PROBE
}
#undef T
#undef dense
#undef strided
#define T F8
#define dense dense_F8
#define strided strided_F8
namespace of_F8 {
#include FAKE_CUDA_PROBE
}
#undef T
#undef dense
#undef strided
#define T FNUZ
#define dense dense_FNUZ
#define strided strided_FNUZ
namespace of_FNUZ {
#include FAKE_CUDA_PROBE
}
#undef T
#undef dense
#undef strided
#define T E8M0
#define dense dense_E8M0
#define strided strided_E8M0
namespace of_E8M0 {
#include FAKE_CUDA_PROBE
}
#undef T
#undef dense
#undef strided

}  // namespace fake_cuda
