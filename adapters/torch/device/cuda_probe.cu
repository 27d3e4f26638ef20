// The look at a tensor on CUDA: every element is read once, and one word comes back.
//
// What is sought is the largest element as bits of its own type without the sign. In every type
// that order is the order of size, with Inf and NaN on top, so one unsigned maximum tells both
// whether all is finite and how large the numbers are. It is what `signless` of src/scan gives, and
// is read by `ceiling` there. T, the type, is given when this is compiled: -DT=F32.
//
// slot[0] is the maximum so far and slot[1] the number of blocks that are done; both are zero
// between two looks. home is a word of pinned memory of the host. The last block writes it, once:
// the number of the look above, the maximum below. The host reads that word: it needs no event, no
// copy and no other stream.
//
// Compiled by NVRTC on the user's machine, and by g++ with an emulated grid in the tests.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;
typedef unsigned short u16;

__device__ __forceinline__ u32 larger(u32 a, u32 b) { return a > b ? a : b; }
__device__ __forceinline__ u32 largest(u32 a, uint4 v) {
  return larger(larger(larger(a, v.x), v.y), larger(v.z, v.w));
}
__device__ __forceinline__ u32 largest_pairs(u32 a, uint4 v) {
  return __vmaxu2(__vmaxu2(__vmaxu2(a, v.x), v.y), __vmaxu2(v.z, v.w));
}
__device__ __forceinline__ u32 largest_bytes(u32 a, uint4 v) {
  return __vmaxu4(__vmaxu4(__vmaxu4(a, v.x), v.y), __vmaxu4(v.z, v.w));
}
__device__ __forceinline__ uint4 masked(uint4 v, u32 mask) {
  v.x &= mask;
  v.y &= mask;
  v.z &= mask;
  v.w &= mask;
  return v;
}

// Of each type: `fold` takes 16 bytes into a maximum (of several lanes), `settle` makes one of the
// lanes, `one` reads an element.
struct F32 {
  typedef u32 bits;
  static __device__ __forceinline__ u32 fold(u32 m, uint4 v) {
    return largest(m, masked(v, 0x7fffffffu));
  }
  static __device__ __forceinline__ u32 one(u32 b) { return b & 0x7fffffffu; }
  static __device__ __forceinline__ u32 settle(u32 m) { return m; }
};
// The upper half; its last bit is set where the lower half is not zero, so that no NaN becomes Inf
// and no number becomes zero.
struct F64 {
  typedef u64 bits;
  static __device__ __forceinline__ u32 half(u32 low, u32 high) {
    return (high & 0x7fffffffu) | (low != 0u ? 1u : 0u);
  }
  static __device__ __forceinline__ u32 fold(u32 m, uint4 v) {
    return larger(larger(m, half(v.x, v.y)), half(v.z, v.w));
  }
  static __device__ __forceinline__ u32 one(u64 b) { return half((u32)b, (u32)(b >> 32)); }
  static __device__ __forceinline__ u32 settle(u32 m) { return m; }
};
// And bfloat16.
struct F16 {
  typedef u16 bits;
  static __device__ __forceinline__ u32 fold(u32 m, uint4 v) {
    return largest_pairs(m, masked(v, 0x7fff7fffu));
  }
  static __device__ __forceinline__ u32 one(u32 b) { return b & 0x7fffu; }
  static __device__ __forceinline__ u32 settle(u32 m) { return larger(m & 0xffffu, m >> 16); }
};
struct Bytes {
  typedef u8 bits;
  static __device__ __forceinline__ u32 settle(u32 m) {
    return larger(larger(m & 0xffu, m >> 8 & 0xffu), larger(m >> 16 & 0xffu, m >> 24));
  }
};
// e5m2 and e4m3fn.
struct F8 : Bytes {
  static __device__ __forceinline__ u32 fold(u32 m, uint4 v) {
    return largest_bytes(m, masked(v, 0x7f7f7f7fu));
  }
  static __device__ __forceinline__ u32 one(u32 b) { return b & 0x7fu; }
};
// The sign without a number is NaN, and stays on top.
struct FNUZ : Bytes {
  static __device__ __forceinline__ u32 top(u32 w) {
    return (w & 0x7f7f7f7fu) | (__vcmpeq4(w, 0x80808080u) & 0x80808080u);
  }
  static __device__ __forceinline__ u32 fold(u32 m, uint4 v) {
    v.x = top(v.x);
    v.y = top(v.y);
    v.z = top(v.z);
    v.w = top(v.w);
    return largest_bytes(m, v);
  }
  static __device__ __forceinline__ u32 one(u32 b) { return b == 0x80u ? b : b & 0x7fu; }
};
// No sign.
struct E8M0 : Bytes {
  static __device__ __forceinline__ u32 fold(u32 m, uint4 v) { return largest_bytes(m, v); }
  static __device__ __forceinline__ u32 one(u32 b) { return b; }
};

// A block is a multiple of 32 threads, at most 1024.
__device__ __forceinline__ void finish(u32 found, u32* slot, volatile u64* home, u32 number) {
  __shared__ u32 of_warp[32];
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) found = larger(found, __shfl_xor_sync(0xffffffffu, found, d));
  if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (u32 i = 1; i < blockDim.x >> 5; ++i) found = larger(found, of_warp[i]);
  atomicMax(slot, found);
  __threadfence();
  if (atomicAdd(slot + 1, 1u) != gridDim.x - 1) return;
  __threadfence();  // the last block: the others are in
  const u32 all = atomicExch(slot, 0u);
  slot[1] = 0;
  __threadfence();
  *home = (u64)number << 32 | all;
  __threadfence_system();
}

// A run of elements without gaps. It may begin anywhere that suits an element.
extern "C" __global__ void dense(const char* data, u64 bytes, u32* slot, u64* home, u32 number) {
  const u64 me = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u64 all = (u64)gridDim.x * blockDim.x;
  const u64 lead = (16 - ((u64)data & 15)) & 15;
  const u64 head = lead < bytes ? lead : bytes;
  const u64 chunks = (bytes - head) / 16;
  const uint4* body = (const uint4*)(data + head);
  u32 m = 0;
  u64 i = me;
  for (; i + 3 * all < chunks; i += 4 * all) {  // four loads in flight
    const uint4 a = body[i], b = body[i + all], c = body[i + 2 * all], d = body[i + 3 * all];
    m = T::fold(T::fold(T::fold(T::fold(m, a), b), c), d);
  }
  for (; i < chunks; i += all) m = T::fold(m, body[i]);
  m = T::settle(m);
  const u64 size = sizeof(T::bits), tail = head + chunks * 16;
  const T::bits* first = (const T::bits*)data;
  const T::bits* last = (const T::bits*)(data + tail);
  for (u64 k = me; k < head / size; k += all) m = larger(m, T::one(first[k]));
  for (u64 k = me; k < (bytes - tail) / size; k += all) m = larger(m, T::one(last[k]));
  finish(m, slot, home, number);
}

// Up to eight dimensions, the innermost last; strides count elements.
struct Shape {
  int dims;
  u32 size[8];
  long long stride[8];
};

template <class Index>
__device__ __forceinline__ u32 largest_of(const char* data, u64 elements, const Shape& shape) {
  const u64 all = (u64)gridDim.x * blockDim.x;
  u32 m = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += all) {
    Index left = (Index)i;
    long long at = 0;
    for (int d = shape.dims - 1; d >= 0; --d) {
      const Index next = left / shape.size[d];
      at += (long long)(left - next * shape.size[d]) * shape.stride[d];
      left = next;
    }
    m = larger(m, T::one(((const T::bits*)data)[at]));
  }
  return m;
}

extern "C" __global__ void strided(const char* data, u64 elements, Shape shape, u32* slot,
                                   u64* home, u32 number) {
  const u32 m = elements >> 32 == 0 ? largest_of<u32>(data, elements, shape)
                                    : largest_of<u64>(data, elements, shape);
  finish(m, slot, home, number);
}
