// Adds and deletes documents until it is killed. Reports each acknowledged one to its parent.
import { newId } from '../../src/core/platform/ids.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'

const [folder, agent] = process.argv.slice(2) as [string, string]
const knowledge = openKnowledge({ place: { folder }, ids: newId })
await knowledge.start()
const run = `${process.pid}`
for (let i = 0; ; i++) {
  const text = `The persimmon number ${i} of run ${run} grows in garden g${run}x${i}.`
  // Half of the documents are read in the thread, the other half in the reading process.
  const [mediaType, content] = i % 2 === 0 ? ['text/plain', Buffer.from(text)] : ['text/html', Buffer.from(`<p>${text}</p>`)]
  const added = knowledge.addDocument(agent, {
    title: `${run} ${i}`,
    source: { type: 'text' },
    mediaType,
    content,
    metadata: {},
  })
  added.then(async ({ id }) => {
    process.send?.({ added: id })
    if (i % 5 === 0 && (await knowledge.deleteDocument(agent, id))) process.send?.({ deleted: id })
  })
  if (i % 8 === 7) await added
}
