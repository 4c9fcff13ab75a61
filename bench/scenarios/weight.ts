import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Figure, Scenario } from '../figures.ts'
import { memoryKb, treeOf } from '../processes.ts'
import { here, Stage } from '../stage.ts'
import { median } from '../turns.ts'

const ROOT = here('..')
const STARTS = 3
const IDLE_AFTER_MS = 2_000
const NPM = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
const KINDS = {
  /** A server's needs, without optional vendor packages and parsers. */
  production: ['--omit=dev', '--omit=optional', '--workspaces=false'],
  everything: [],
}
const QUESTION = 'How do I stream a reply?'

/** Measures installation size, start time and idle memory. */
export const weight: Scenario = {
  name: 'weight',
  figures: ['cold', 'idle', 'install', 'packages', 'install-all', 'npm-start'],
  async run({ engines, rounds, size, wants, tell }) {
    const figures: Figure[] = []
    if (engines.includes('sqlite') && (wants('cold') || wants('idle'))) figures.push(...(await starts(rounds * STARTS, tell)))
    // The other figures have only one size and take minutes.
    if (size === 'quick') return figures.filter(({ id }) => wants(id))
    if (wants('install') || wants('packages')) {
      const { mb, packages } = await installed('production', tell)
      figures.push({ id: 'install', value: mb }, { id: 'packages', value: packages })
    }
    if (wants('install-all')) figures.push({ id: 'install-all', value: (await installed('everything', tell)).mb })
    if (wants('npm-start')) figures.push({ id: 'npm-start', value: await npmStart(tell) })
    return figures.filter(({ id }) => wants(id))
  },
}

/** Measures starts with empty folders. The first start fills the compile cache and does not count. */
async function starts(count: number, tell: (text: string) => void): Promise<Figure[]> {
  tell(`${count} starts`)
  const cold = { ours: [] as number[], floor: [] as number[] }
  const idle = { ours: [] as number[], floor: [] as number[] }
  for (let i = 0; i <= count; i++) {
    const stage = new Stage()
    try {
      await stage.model()
      for (const name of ['ours', 'floor'] as const) {
        const place = await stage.place('sqlite')
        const system = await (name === 'ours' ? stage.service(place) : stage.floor(place))
        if (i > 0) cold[name].push(system.coldMs)
        if (i === 0 || i > 3) continue
        await pause(IDLE_AFTER_MS)
        idle[name].push(memoryKb(system.roots) / 1_024)
      }
    } finally {
      await stage.end()
    }
  }
  return [
    { id: 'cold', value: median(cold.ours), base: median(cold.floor), more: { most: Math.max(...cold.ours) } },
    { id: 'idle', value: median(idle.ours), base: median(idle.floor) },
  ]
}

/** Installs in a copy of the files that npm reads. */
async function installed(kind: keyof typeof KINDS, tell: (text: string) => void): Promise<{ mb: number; packages: number }> {
  tell(`npm ci, ${kind}`)
  const stage = new Stage()
  try {
    const read = execFileSync('git', ['ls-files', '*package.json', 'package-lock.json', 'scripts/no-canvas'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    for (const path of read.trim().split('\n')) {
      mkdirSync(dirname(join(stage.folder, path)), { recursive: true })
      cpSync(join(ROOT, path), join(stage.folder, path))
    }
    execFileSync('npm', [...NPM, ...KINDS[kind]], { cwd: stage.folder, stdio: 'ignore' })
    const modules = join(stage.folder, 'node_modules')
    const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
      packages: Record<string, { link?: true }>
    }
    const own = Object.entries(packages).filter(([path, { link }]) => link === undefined && existsSync(join(stage.folder, path)))
    const kb = Number(execFileSync('du', ['-sk', modules], { encoding: 'utf8' }).split('\t')[0])
    return { mb: kb / 1_024, packages: own.filter(([path]) => path.startsWith('node_modules/')).length }
  } finally {
    await stage.end()
  }
}

/** Returns the seconds from `npm start` in a fresh clone of the last commit to a reply with a citation. npm's cache is warm. */
async function npmStart(tell: (text: string) => void): Promise<number> {
  tell('npm start in a fresh clone')
  const stage = new Stage()
  const clone = join(stage.folder, 'clone')
  execFileSync('git', ['clone', '--quiet', ROOT, clone])
  const begun = performance.now()
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|REPARTEE_|NODE_)/i.test(name))
  const env = { ...Object.fromEntries(own), REPARTEE_PORT: '0', npm_config_prefer_offline: 'true' }
  const npm = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [url, secret] = await greeting(npm.stdout)
    await groundedReply(url, secret)
    return (performance.now() - begun) / 1_000
  } finally {
    const gone = once(npm, 'close')
    for (const pid of treeOf([npm.pid!]).toReversed()) end(pid)
    await gone
    await stage.end()
  }
}

/** Ends a process. It may already have ended together with its parent. */
function end(pid: number): void {
  try {
    process.kill(pid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Returns the address and the key that a first start prints. */
async function greeting(output: AsyncIterable<Buffer>): Promise<[url: string, key: string]> {
  let printed = ''
  for await (const part of output) {
    printed += part
    const [url, key] = [/(http:\/\/\S+\/v1)\n/.exec(printed)?.[1], /(rpt_[0-9A-Za-z]{40})/.exec(printed)?.[1]]
    if (url !== undefined && key !== undefined) return [url, key]
  }
  throw new Error(`npm start ended: ${printed}`)
}

/** Asks the sample agent until a reply cites its documents. */
async function groundedReply(url: string, key: string): Promise<void> {
  const ask = async (path: string, body?: object) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(
      url + path,
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
    )
    return answer.json()
  }
  for (;;) {
    const { agents } = (await ask('/agents')) as { agents: { id: string }[] }
    if (agents.length > 0) {
      const path = `/agents/${agents[0]!.id}/sessions`
      const { session } = (await ask(path, {})) as { session: { id: string } }
      const reply = (await ask(`${path}/${session.id}/messages`, { message: QUESTION, include: ['sources'] })) as {
        sources?: object[]
      }
      if ((reply.sources?.length ?? 0) > 0) return
    }
    await pause(100)
  }
}
