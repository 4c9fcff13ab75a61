// A run of the tests has one temporary folder, in which each file of tests has one of its own: whose processes know the folder is told by its name.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** From the last test of a file to the end of its process, and from there to the end of what it has started. Slow machines must not reach it. */
export const ENDS_WITHIN_MS = Number(process.env['TEST_ENDS_WITHIN_MS'] ?? 120_000)
const TESTS = fileURLToPath(new URL('..', import.meta.url))

export const newRunFolder = (): string => mkdtempSync(join(tmpdir(), 'repartee-tests-'))

/** In the folder of the run, for temporary files of a file of tests. */
export const folderOf = (run: string, file: string): string => join(run, relative(TESTS, file).replaceAll('/', '.'))

/** Holds the id of the process that runs a file of tests. */
export const pidFileOf = (run: string, file: string): string => `${folderOf(run, file)}.pid`
