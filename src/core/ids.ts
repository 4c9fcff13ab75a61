import { randomUUIDv7 } from 'node:crypto'

/** UUID, version 7 (RFC 9562), lower case: ascending by the millisecond, random in its second half. */
export const newId: () => string = () => randomUUIDv7()

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => UUID.test(text)
