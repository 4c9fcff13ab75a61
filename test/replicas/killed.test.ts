// Processes that share a database, behind a proxy that takes them in turn: one dies, or the database goes away.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { repartee } from '../cli/repartee.ts'
import { faultsOf, type Sent, send, speakSlowly } from '../support/acknowledged.ts'
import { Client } from '../support/client.ts'
import { until } from '../support/poll.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { startHaproxy } from '../support/proxies.ts'
import { makeKey, needsProcess, type Service, startService } from '../support/service.ts'

/** More for a long run: `REPLICA_ROUNDS=100 REPLICAS=4 node --test test/replicas/killed.test.ts`. */
const ROUNDS = Number(process.env['REPLICA_ROUNDS'] ?? 2)
const REPLICAS = Number(process.env['REPLICAS'] ?? 2)
const SENDERS = 12
const AWAY_MS = 1_500

describe('processes on one database', { skip: needsProcess, timeout: 300_000 + ROUNDS * 60_000 }, () => {
  let server: PostgresServer
  let replicas: Service[]
  let client: Client
  let agent: string
  before(async () => {
    server = await startPostgres()
    const key = makeKey()
    const shared = { REPARTEE_DATABASE_URL: server.url, REPARTEE_ADMIN_KEY: key }
    const one = await startService(shared)
    speakSlowly(one.model)
    const others = { ...shared, OPENAI_BASE_URL: await one.model.listen() }
    replicas = [one, ...(await Promise.all(Array.from({ length: REPLICAS - 1 }, () => startService(others))))]
    const proxy = await startHaproxy({ servers: replicas.map((replica) => new URL(replica.client.address.baseUrl).host) })
    client = new Client({ baseUrl: `http://127.0.0.1:${proxy.port}/v1` }, key)
    agent = await one.newAgent({ followUps: { enabled: false } })
  })

  /** Keeps sending to sessions while something happens. Returns what is wrong afterwards, and how many sends were acknowledged. */
  async function during(round: number, happens: (acknowledged: Sent[]) => Promise<void>) {
    const sessions = await Promise.all(Array.from({ length: SENDERS }, () => replicas[0]!.newSession(agent)))
    const acknowledged: Sent[] = []
    let isOver = false
    const senders = sessions.map(async (session, sender) => {
      for (let n = 0; !isOver; n++) {
        const sent = await send(client, session, `${round}.${sender}.${n}`, sender % 2 === 1).catch(() => undefined)
        if (sent !== undefined) acknowledged.push(sent)
        else await pause(20)
      }
    })
    await until('sends are on their way', () => acknowledged.length > 20)
    await happens(acknowledged)
    const before = acknowledged.length
    await until('sends go on', () => acknowledged.length > before + 40)
    isOver = true
    await Promise.all(senders)
    const faults: string[] = []
    for (const session of sessions) faults.push(...(await faultsOf(client, session, acknowledged)))
    return { faults, count: acknowledged.length }
  }

  test('any one is killed under load, again and again: nothing acknowledged is lost, doubled or out of order', async (t) => {
    const faults: string[] = []
    let count = 0
    for (let round = 0; round < ROUNDS; round++) {
      const victim = replicas[(round + 1) % replicas.length]!
      const { port } = new URL(victim.client.address.baseUrl)
      const found = await during(round, async (acknowledged) => {
        await victim.kill()
        const then = acknowledged.length
        await until('the others go on', () => acknowledged.length > then + 20)
        await victim.restart({ REPARTEE_PORT: port })
      })
      faults.push(...found.faults)
      count += found.count
    }
    t.diagnostic(`${count} acknowledged`)
    assert.deepEqual(faults, [])
  })

  for (const [how, signal] of [
    ['is restarted', 'SIGINT'],
    ['crashes', 'SIGQUIT'],
  ] as const)
    test(`the database ${how} under load: clear refusals meanwhile, then all goes on by itself`, async () => {
      const refusals = new Set<string>()
      const { faults } = await during(1_000, async () => {
        let isAway = true
        const asking = (async () => {
          while (isAway) {
            const { status, body } = await client.get(`/agents/${agent}/sessions?limit=1`)
            if (status !== 200) refusals.add(`${status} ${body?.error?.code ?? ''}`)
            await pause(20)
          }
        })()
        await server.restart(signal, AWAY_MS)
        isAway = false
        await asking
      })
      assert.deepEqual(faults, [])
      // HAProxy itself says 503 once it knows that no process has its database.
      assert.ok(refusals.has('503 unavailable'), [...refusals].join())
      assert.deepEqual(
        [...refusals].filter((refusal) => !/^503 (unavailable)?$/.test(refusal)),
        [],
      )
    })

  test('afterwards all data fits together', async () => {
    const { code, stdout, stderr } = await repartee(['check'], { REPARTEE_DATABASE_URL: server.url })
    assert.equal(code, 0, stdout + stderr)
  })
})
