import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ReparteeError } from '../../src/core/errors.ts'
import { DueSites } from '../../src/knowledge/ingest/web/due-sites.ts'
import { KnowledgeFolder } from '../../src/store/knowledge/folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-due-'))
after(() => rmSync(folder, { recursive: true }))

describe('when sites are due', () => {
  test('is kept over a restart, and what is over leaves nothing behind', async () => {
    const woken: string[] = []
    const first = new DueSites(new KnowledgeFolder(folder), (agent) => woken.push(agent))
    first.set('late', Date.now() - 1)
    first.set('later', Date.now() + 3_600_000)
    first.close()
    const second = new DueSites(new KnowledgeFolder(folder), (agent) => woken.push(agent))
    await pause(50)
    assert.deepEqual(woken, ['late'])
    second.set('late', null)
    second.set('later', null)
    assert.deepEqual(readdirSync(folder), [])
    second.close()
  })

  test('is noted later where the store is out of reach', () => {
    const store = new KnowledgeFolder(folder)
    const sites = new DueSites(store, () => {})
    const markDue = store.markDue.bind(store)
    store.markDue = () => {
      throw new ReparteeError('unavailable', 'The knowledge base is out of reach.')
    }
    const at = Date.now() + 3_600_000
    sites.set('a', at)
    sites.set('b', null)
    assert.deepEqual(store.listDue(), new Map())
    store.markDue = markDue
    sites.look()
    assert.deepEqual(store.listDue(), new Map([['a', at]]))
    sites.set('a', null)
    sites.close()
  })
})
