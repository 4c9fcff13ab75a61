// Cleans up after a test run. Waits until standard input closes, which happens when the run's process ends.
import { removeRun } from './leftovers.ts'

const [, , folder] = process.argv
process.stdin.resume()
await new Promise((resolve) => process.stdin.once('close', resolve))
await removeRun(folder!)
