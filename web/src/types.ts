// The floating-point types: how small and how large their numbers get, as powers of two.

export interface FloatType {
  smallest: number; // exponent of the smallest subnormal
  normal: number; // of the smallest normal number
  largest: number; // of the largest finite number
}

const TYPES: Record<string, FloatType> = {
  float64: { smallest: -1074, normal: -1022, largest: 1024 },
  float32: { smallest: -149, normal: -126, largest: 128 },
  float16: { smallest: -24, normal: -14, largest: 16 },
  bfloat16: { smallest: -133, normal: -126, largest: 128 },
  float8_e5m2: { smallest: -16, normal: -14, largest: 16 },
  float8_e4m3fnuz: { smallest: -10, normal: -7, largest: 8 },
  float8_e5m2fnuz: { smallest: -17, normal: -15, largest: 16 },
  float8_e8m0fnu: { smallest: -127, normal: -127, largest: 128 },
  float8_e4m3fn: { smallest: -9, normal: -6, largest: 9 },
};
TYPES.complex64 = TYPES.float32!;
TYPES.complex128 = TYPES.float64!;
TYPES.complex32 = TYPES.float16!;

export const floatType = (dtype: string): FloatType | undefined => TYPES[dtype];
