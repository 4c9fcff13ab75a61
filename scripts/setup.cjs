// Runs before `npm start` and `npm test` under the system's Node. Installs the lock file's packages if needed, and builds the web pages.
// Without the argument `tests` it skips the packages that only tests need, a third of the total.
// The packages include Node 24 (node_modules/.bin/node), which the scripts of package.json then find first.
'use strict'
const { createHash } = require('node:crypto')
const { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { constants: os, tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { spawn } = require('node:child_process')

const root = join(__dirname, '..')
const stamp = join(root, 'node_modules', '.installed')
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')
const withTests = process.argv[2] === 'tests'
const isWindows = process.platform === 'win32'

main()

async function main() {
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []
  if (installed[0] !== lock || (withTests && installed[1] !== 'tests')) await install()

  const own = join(root, 'node_modules', '.bin', isWindows ? 'node.cmd' : 'node')
  const hasOwn = existsSync(own)
  if (!hasOwn && Number(process.versions.node.split('.')[0]) < 24) {
    fail(
      'Node 24 or newer is needed, and the npm package "node" did not bring it: allow its install script (npm approve-scripts node), or install Node 24.',
    )
  }

  // Runs in the background: it only makes the first start faster, so nothing waits for it and its failure has no effect.
  const cache = join(root, 'node_modules', '.cache', 'repartee')
  if (!withTests && !existsSync(cache) && hasOwn && !isWindows) {
    const env = { ...process.env, NODE_COMPILE_CACHE: cache }
    spawn(own, [join(root, 'scripts', 'compile.ts')], { cwd: root, stdio: 'ignore', env }).unref()
  }

  // Runs here instead of in a separate command, because the shell would still use the Node that it found earlier.
  const node = hasOwn ? own : process.execPath
  // Without this, the tools leave their compile cache in the folder for temporary files.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'repartee-build') }
  const options = { stdio: ['ignore', 'inherit', 'inherit'], shell: isWindows, env }
  const code = await run(node, [join(root, 'scripts', 'build-web.ts')], options)
  if (code !== 0) fail('The pages for browsers could not be built: see above.')
}

async function install() {
  console.log('Installing packages (once) …')
  const [command, args] = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []]
  const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const parts = withTests ? [] : ['--workspace=client', '--workspace=console', '--workspace=widget', '--include-workspace-root']
  // npm would also leave its compile cache in the folder for temporary files.
  const env = { ...process.env, npm_config_engine_strict: 'false', NODE_DISABLE_COMPILE_CACHE: '1' }
  // npm needs a writable cache, and the home folder can be read-only.
  const cache = isWritable(process.env.npm_config_cache) ? undefined : mkdtempSync(join(tmpdir(), 'repartee-npm-'))
  if (cache !== undefined) env.npm_config_cache = cache
  const code = await run(command, [...args, ...flags, ...parts], { stdio: ['ignore', 'ignore', 'inherit'], env })
  if (cache !== undefined) rmSync(cache, { recursive: true, force: true })
  if (code !== 0)
    fail(
      'The packages could not be installed: is the npm registry within reach, is this folder writable, and is there room on the disk?',
    )
  writeFileSync(stamp, withTests ? `${lock} tests` : lock)
}

/** Runs a program to its end and forwards termination signals to it. Resolves to its exit code. */
function run(command, args, options) {
  const child = spawn(command, args, { cwd: root, ...options })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const handlers = signals.map((signal) => () => {
    child.once('exit', () => process.exit(128 + os.signals[signal]))
    child.kill(signal)
  })
  for (const [i, signal] of signals.entries()) process.on(signal, handlers[i])
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('exit', (code) => {
      for (const [i, signal] of signals.entries()) process.off(signal, handlers[i])
      resolve(code ?? 1)
    })
  })
}

/** Returns whether a folder, or its nearest existing parent, is writable. */
function isWritable(folder) {
  if (folder === undefined) return true
  for (let at = folder; ; at = dirname(at)) {
    if (!existsSync(at)) continue
    try {
      accessSync(at, constants.W_OK)
      return true
    } catch {
      return false
    }
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
