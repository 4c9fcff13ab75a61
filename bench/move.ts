// Moves many sessions from a data folder into PostgreSQL and back. Kills and resumes each move several times, and compares the copies.
//   node bench/move.ts [sessions, default 100000] [messages, default 1000000]
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openNewFolder } from '../src/store/backup/move/folder-place.ts'
import { newDatabase, startPostgres } from '../test/support/postgres.ts'
import { fill } from './fill.ts'

const [sessions = 100_000, messages = 1_000_000] = process.argv.slice(2).map(Number)
const KILLS = 5
const AGENTS = 100
const folder = mkdtempSync(join(tmpdir(), 'repartee-move-'))
const server = await startPostgres({ fsync: 'on' })
process.env['TEST_POSTGRES_URL'] = server.url
const first = join(folder, 'first')
const each = { sessions: sessions / AGENTS, messages: Math.round(messages / sessions) }
await fill(openNewFolder(first), Array(AGENTS).fill(each))

const [second, third, whole] = [await newDatabase(), join(folder, 'third'), await newDatabase()]
const undisturbed = await timed('into PostgreSQL, undisturbed', first, whole, 0)
const there = await timed(`into PostgreSQL, killed ${KILLS} times`, first, second, KILLS)
const back = await timed(`back, killed ${KILLS} times`, second, third, KILLS)
const isSame = [there, back].every((printed) => printed === undisturbed)
console.log(
  JSON.stringify({ same: isSame, tables: JSON.parse(undisturbed).tables.filter(({ rows }: { rows: number }) => rows > 0) }),
)
await server.stop()
rmSync(folder, { recursive: true })
if (!isSame) process.exitCode = 1

async function timed(what: string, from: string, to: string, kills: number): Promise<string> {
  let ms = 0
  for (let n = 0; ; n++) {
    const begun = performance.now()
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../src/start.js', import.meta.url)), 'move', '--from', from, '--to', to, '--json'],
      { env: { PATH: process.env['PATH'], REPARTEE_DATA: folder }, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
    })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    if (n < kills) {
      await pause(2_000 + n * 500)
      child.kill('SIGKILL')
    }
    const code = await ended
    ms += performance.now() - begun
    if (code === 0 || n >= kills) {
      if (code !== 0) throw new Error(`${what}: ended with ${code}`)
      console.log(JSON.stringify({ what, seconds: Math.round(ms / 100) / 10, killed: n }))
      return printed
    }
  }
}
