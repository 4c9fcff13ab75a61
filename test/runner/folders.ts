// Each run has a temporary folder with a subfolder per test file. A process that refers to a folder belongs to its run or file.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Limit from the last test of a file to the end of its process, and from there to the end of its children. Slow machines must not reach it. */
export const ENDS_WITHIN_MS = Number(process.env['TEST_ENDS_WITHIN_MS'] ?? 120_000)
const TESTS = fileURLToPath(new URL('..', import.meta.url))

export const newRunFolder = (): string => mkdtempSync(join(tmpdir(), 'repartee-tests-'))

/** Returns the folder for temporary files of a test file, in the folder of the run. */
export const folderOf = (run: string, file: string): string => join(run, relative(TESTS, file).replaceAll('/', '.'))

/** Returns the path of the file with the process id of a test file. */
export const pidFileOf = (run: string, file: string): string => `${folderOf(run, file)}.pid`
