import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newId } from '../src/core/ids.ts'
import { isDefinitionAsked } from '../src/knowledge/answer/definitions.ts'
import { openKnowledge } from '../src/knowledge/knowledge.ts'
import { analyse, contentStems } from '../src/text/analyse.ts'
import { settled } from './contract/knowledge.ts'

test('a question that asks what something is', () => {
  for (const question of [
    'What is a lamp?',
    'whats a lamp',
    "what's the lamp",
    'What does lamp mean?',
    'Was ist eine Lampe?',
    "C'est quoi une lampe ?",
    'Que veut dire lampe ?',
    '¿Qué es una lámpara?',
    'ランプとは？',
    'ランプって何ですか？',
  ])
    assert.ok(isDefinitionAsked(question), question)
  for (const question of ['What is the price of a lamp?', 'Is it a lamp?', 'What does the lamp do?', 'ランプはどこですか？'])
    assert.ok(!isDefinitionAsked(question), question)
})

test('words without their apostrophe say nothing about the subject either', () => {
  assert.deepEqual(
    contentStems(analyse("whats a lamp and how's it lit, I dont know", 'en')),
    contentStems(analyse('lamp lit know', 'en')),
  )
})

describe('what a thing is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-definitions-'))
  const agent = randomUUID()
  let knowledge: ReturnType<typeof openKnowledge>
  before(async () => {
    knowledge = openKnowledge({ place: { folder }, ids: newId })
    const add = (filename: string, text: string) =>
      knowledge.addDocument(agent, {
        ...{ source: { type: 'file' as const, filename }, mediaType: 'text/markdown', metadata: {} },
        content: Buffer.from(text),
      })
    const parts = ['Sharing', 'Exporting', 'Deleting', 'Renaming', 'Importing', 'Printing', 'Editing', 'Saving']
    for (const part of parts)
      await add(
        `${part}.md`,
        `# ${part} a macro\n\nThe macro is now ready. A macro, any macro: click the macro, then the macro menu, and the macro is done.`,
      )
    await add(
      'macros.md',
      `# Macros\n\nMacros save time. In this manual you find all of their commands, one by one.\n\n## Name\n\n${'The name is free. '.repeat(40)}`,
    )
    await add(
      'names.md',
      `# Words\n\nA badge is a sign of rank that people wear.\n\n## Cost\n\nThe badge is currently 5 euros. The badge is free for members.`,
    )
    await settled(knowledge, agent)
  })
  after(async () => {
    await knowledge.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const ask = async (query: string) => {
    const retrieval = await knowledge.retrieve(agent, { query, history: [], topK: 6, filter: null })
    return { retrieval, ...(await knowledge.extract(agent, { question: query, history: [], retrieval })) }
  }

  test('is first looked for in the passage that is called so', async () => {
    const { retrieval, quotes } = await ask('whats a macro')
    assert.equal(retrieval.hits[0]!.title, 'Macros')
    assert.match(quotes[0]!.text, /^Macros save time/)
    // Those that speak of it more are first for any other question.
    assert.notEqual((await ask('macro menu')).retrieval.hits[0]!.title, 'Macros')
  })

  test('is said by a noun with its article, rather than by a state', async () => {
    assert.match((await ask('What is a badge?')).quotes[0]!.text, /^A badge is a sign of rank/)
  })
})
