// Cleans up after a run of the tests, however that ends: a process of its own, which waits until the run closes this one's standard input, as its death does.
import { removeRun } from './leftovers.ts'

const [, , folder] = process.argv
process.stdin.resume()
await new Promise((resolve) => process.stdin.once('close', resolve))
await removeRun(folder!)
