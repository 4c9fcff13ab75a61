export type SqlValue = string | number | null | Uint8Array
export type SqlRow = Record<string, SqlValue>

/** Returns the bytes of an array for storage. Empty arrays get a new buffer: before Node 24.15, SQLite stores a view of an empty buffer as NULL. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Uint8Array =>
  byteLength === 0 ? new Uint8Array(0) : new Uint8Array(buffer, byteOffset, byteLength)
