// Cleans up after a run of the tests: waits until nobody can write to the standard input of this process any more, which the death of the run brings about.
import { removeRun } from './leftovers.ts'

const [, , folder] = process.argv
process.stdin.resume()
await new Promise((resolve) => process.stdin.once('close', resolve))
await removeRun(folder!)
