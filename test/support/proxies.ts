import type { ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../runner/programs.ts'
import { endsBy, killed, launch, removedAtExit } from './cleanup.ts'
import { freePort } from './free-port.ts'
import { unprivileged } from './postgres.ts'

const READY_WITHIN_MS = 120_000
const DEPLOY = new URL('../../deploy/', import.meta.url)

export interface RunningProxy {
  port: number
  stop(): Promise<void>
}

export interface ProxyOptions {
  /** `host:port` of each upstream process. */
  servers: string[]
  /** Additional files in the configuration's folder, by name. */
  files?: Record<string, string>
  /** Changes the configuration as an operator would. */
  edit?: (configuration: string, folder: string) => string
}

/** Starts nginx with the configuration of `deploy`, for these servers and on a free port. */
export async function startNginx({ servers, files = {}, edit = (text) => text }: ProxyOptions): Promise<RunningProxy> {
  const program = findProgram('nginx')
  const port = await freePort()
  return start(program, port, files, 'nginx.conf', (folder) => {
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`)
    const text = readFileSync(new URL('nginx.conf', DEPLOY), 'utf8')
      .replace('server repartee:8080;', servers.map((server) => `server ${server};`).join('\n'))
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('pid /tmp/nginx.pid;', `pid ${folder}/pid;\nerror_log ${folder}/log;\ndaemon off;`)
      .replace('http {', `http {\n${paths.join('\n')}`)
    return { text: edit(text, folder), args: (path) => ['-c', path, '-e', `${folder}/log`] }
  })
}

/** Starts HAProxy in the same way. */
export async function startHaproxy({ servers, files = {}, edit = (text) => text }: ProxyOptions): Promise<RunningProxy> {
  const program = findProgram('haproxy')
  const port = await freePort()
  return start(program, port, files, 'haproxy.cfg', (folder) => {
    const text = readFileSync(new URL('haproxy.cfg', DEPLOY), 'utf8')
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replace(/( {2}server .*\n)+$/, servers.map((server, i) => `  server s${i} ${server}\n`).join(''))
    return { text: edit(text, folder), args: (path) => ['-f', path, '-db'] }
  })
}

async function start(
  program: string,
  port: number,
  files: Record<string, string>,
  name: string,
  configure: (folder: string) => { text: string; args: (path: string) => string[] },
): Promise<RunningProxy> {
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-proxy-')))
  chmodSync(folder, 0o755)
  const { text, args } = configure(folder)
  const path = join(folder, name)
  writeFileSync(path, text)
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
  const user = unprivileged()
  if (user !== undefined) for (const each of ['.', ...readdirSync(folder)]) chownSync(join(folder, each), user.uid, user.gid)
  const child = launch(program, args(path), { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr!.on('data', (chunk) => {
    said += chunk
  })
  const stop = endsBy('the proxy', () => killed(child, 'SIGTERM'))
  await ready(port, child, () => said)
  return { port, stop }
}

async function ready(port: number, child: ChildProcess, said: () => string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`the proxy did not start: ${said()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
