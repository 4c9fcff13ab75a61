import type { Schema } from './schema.ts'

/** Sample bodies for the reference, by operation. The service accepts each of them unchanged. */
const written: Record<string, object> = {
  createSession: { name: 'First try' },
  updateSession: { name: 'Opening hours' },
  importSession: {
    name: 'Imported conversation',
    messages: [
      { role: 'USER', content: 'When is the shop open?' },
      { role: 'AI', content: 'From 9:00 to 18:00.' },
    ],
  },
  sendMessage: { message: 'When is the shop open?', include: ['sources'] },
  createAgent: { name: 'Help desk' },
  updateAgent: { greeting: 'How can I help?' },
  addDocument: { title: 'Opening hours', markdown: '# Opening hours\n\nThe shop is open from 9:00 to 18:00.' },
  replaceDocument: { title: 'Opening hours', markdown: '# Opening hours\n\nThe shop is open from 8:00 to 20:00.' },
  updateDocument: { title: 'Hours' },
  search: { query: 'When is the shop open?', topK: 5 },
  addSource: { type: 'site', url: 'https://example.com/help/', maxPages: 20 },
  createKey: { name: 'Web shop', scopes: ['chat'] },
  rollKey: { overlapSeconds: 3600 },
  createToken: { externalUserId: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f' },
  createWebhook: { url: 'https://example.com/hooks/repartee', events: ['message.completed'] },
}

/** Returns the sample body of an operation, or one made from its required fields. */
export const exampleFor = (operationId: string, schema: Schema): unknown => written[operationId] ?? made(schema)

function made(schema: Schema): unknown {
  const { type, required = [], properties = {}, items, anyOf, minItems = 0 } = schema
  const given = schema.const ?? schema.default ?? schema.examples?.[0] ?? schema.enum?.[0]
  if (given !== undefined) return given
  if (anyOf !== undefined) return made(anyOf[0]!)
  if (type === 'object') return Object.fromEntries(required.map((name) => [name, made(properties[name]!)]))
  if (type === 'array') return minItems === 0 ? [] : [made(items!)]
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  return schema.format === 'uuid' ? '00000000-0000-7000-8000-000000000000' : 'text'
}
