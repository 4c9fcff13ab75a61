// Runs before `npm start` and `npm test`, under whatever Node the machine has: installs what the lock file says, where that has not been done, and builds the pages for browsers.
// What only tests need, which is a third of it, is left out unless `tests` is asked for.
// The packages bring Node 24 with them (node_modules/.bin/node), which the scripts of package.json then find first.
'use strict'
const { createHash } = require('node:crypto')
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { spawn, spawnSync } = require('node:child_process')

const root = join(__dirname, '..')
const stamp = join(root, 'node_modules', '.installed')
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')
const withTests = process.argv[2] === 'tests'
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []

function fail(message) {
  console.error(message)
  process.exit(1)
}

if (installed[0] !== lock || (withTests && installed[1] !== 'tests')) {
  console.log('Installing packages (once) …')
  const [command, args] = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []]
  const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const parts = withTests ? [] : ['--workspace=client', '--workspace=console', '--workspace=widget', '--include-workspace-root']
  const run = spawnSync(command, [...args, ...flags, ...parts], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, npm_config_engine_strict: 'false' },
  })
  if (run.status !== 0)
    fail(
      'The packages could not be installed: is the npm registry within reach, is this folder writable, and is there room on the disk?',
    )
  writeFileSync(stamp, withTests ? `${lock} tests` : lock)
}

const node = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
if (!existsSync(node) && Number(process.versions.node.split('.')[0]) < 24) {
  fail(
    'Node 24 or newer is needed, and the npm package "node" did not bring it: allow its install script (npm approve-scripts node), or install Node 24.',
  )
}

// Beside the building; what comes of it only saves time, so nothing waits for it, and nothing fails with it.
const cache = join(root, 'node_modules', '.cache', 'repartee')
if (!existsSync(cache) && existsSync(node) && process.platform !== 'win32') {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache }
  spawn(node, [join(root, 'scripts', 'compile.ts')], { cwd: root, stdio: 'ignore', env }).unref()
}

// Here and not as a command of its own behind this one: the shell would still have the place of the Node that it found before.
const build = spawnSync(existsSync(node) ? node : process.execPath, [join(root, 'scripts', 'build-web.ts')], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
})
if (build.status !== 0) fail('The pages for browsers could not be built: see above.')
