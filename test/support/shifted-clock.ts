// For `--import`: shifts a process's clock by the milliseconds in the file that TEST_CLOCK names.
import { readFileSync } from 'node:fs'

const now = Date.now.bind(Date)

Date.now = () => {
  try {
    return now() + Number(readFileSync(process.env.TEST_CLOCK!, 'utf8'))
  } catch {
    return now()
  }
}
