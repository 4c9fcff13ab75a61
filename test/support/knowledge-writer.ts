// Adds and deletes documents until it is killed, and tells its parent of each that was acknowledged.
import { newId } from '../../src/core/ids.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'

const [folder, agent] = process.argv.slice(2) as [string, string]
const knowledge = openKnowledge({ folder, ids: newId })
await knowledge.start()
const run = `${process.pid}`
for (let i = 0; ; i++) {
  const content = Buffer.from(`The persimmon number ${i} of run ${run} grows in garden g${run}x${i}.`)
  const added = knowledge.addDocument(agent, {
    title: `${run} ${i}`,
    source: { type: 'text' },
    mediaType: 'text/plain',
    content,
    metadata: {},
  })
  added.then(async ({ id }) => {
    process.send?.({ added: id })
    if (i % 5 === 0 && (await knowledge.deleteDocument(agent, id))) process.send?.({ deleted: id })
  })
  if (i % 8 === 7) await added
}
