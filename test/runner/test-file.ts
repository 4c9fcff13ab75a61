// Preloaded into each test file. Gives the file its own temporary folder, and ends it when its tests are over.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { after } from 'node:test'
import { isMainThread } from 'node:worker_threads'
import { ENDS_WITHIN_MS, folderOf, pidFileOf } from './folders.ts'
import { processesOf } from './leftovers.ts'

if (isMainThread) {
  const file = process.argv[1]!
  const folder = folderOf(tmpdir(), file)
  // Programs that refuse to run as root use subfolders of it.
  mkdirSync(folder, { mode: 0o711, recursive: true })
  writeFileSync(pidFileOf(tmpdir(), file), String(process.pid))
  process.env['TMPDIR'] = folder
  // Child processes and threads are not test files, so they must not preload this module.
  process.execArgv = []
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      const children = processesOf(folder).map(({ pid, command }) => `\n  ${pid} ${command}`)
      console.error(`${file} did not end after its last test. It keeps open: ${open}. Its processes:${children.join('')}`)
      process.exit(1)
    }, ENDS_WITHIN_MS).unref()
  })
}
