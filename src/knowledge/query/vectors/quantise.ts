/** Dimensions are padded to a multiple of this number, so that signs fill whole words. */
const PAD = 128
const LEVELS = 127

export const padded = (dimensions: number): number => Math.ceil(dimensions / PAD) * PAD

/** Size in bytes of a code, and of signs. */
export const codeBytes = (dimensions: number): number => 4 + padded(dimensions)
export const signBytes = (dimensions: number): number => padded(dimensions) / 8

/** Returns the vector scaled to length 1. A zero vector stays zero. */
export function toUnit(vector: Float32Array): Float32Array {
  let sum = 0
  for (const x of vector) sum += x * x
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0
  return vector.map((x) => x * scale)
}

/** Encodes a unit vector: a float32 step size, then one signed byte per dimension, which counts steps. */
export function toCode(unit: Float32Array): Uint8Array {
  let most = 0
  for (const x of unit) most = Math.max(most, Math.abs(x))
  const code = new Uint8Array(codeBytes(unit.length))
  const step = most / LEVELS
  new DataView(code.buffer).setFloat32(0, step, true)
  if (step > 0) for (let i = 0; i < unit.length; i++) code[4 + i] = Math.round(unit[i]! / step)
  return code
}

/** Returns the vector that a code encodes. */
export function fromCode(code: Uint8Array, dimensions: number): Float32Array {
  const bytes = new Int8Array(code.buffer, code.byteOffset + 4, dimensions)
  const step = new DataView(code.buffer, code.byteOffset).getFloat32(0, true)
  return Float32Array.from(bytes, (x) => x * step)
}

/** Returns the cosine of a unit vector and an encoded vector. */
export function cosine(unit: Float32Array, code: Uint8Array): number {
  let sum = 0
  // Reads signed bytes without a view of each code.
  for (let i = 0; i < unit.length; i++) sum += unit[i]! * ((code[i + 4]! << 24) >> 24)
  for (let i = 0; i < 4; i++) stepBytes[i] = code[i]!
  return sum * step.getFloat32(0, true)
}

const stepBytes = new Uint8Array(4)
const step = new DataView(stepBytes.buffer)

/** Returns one bit per dimension: whether it is above the mean. All vectors of a model have much of the mean in common. */
export function toSigns(unit: Float32Array, mean: Float32Array): Uint8Array {
  const bits = new Uint8Array(signBytes(unit.length))
  for (let i = 0; i < unit.length; i++) if (unit[i]! > mean[i]!) bits[i >> 3]! |= 1 << (i & 7)
  return bits
}
