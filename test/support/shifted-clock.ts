// For `--import`: the clock of a process goes before or after by so many milliseconds as the file says that TEST_CLOCK names.
import { readFileSync } from 'node:fs'

const now = Date.now.bind(Date)

Date.now = () => {
  try {
    return now() + Number(readFileSync(process.env.TEST_CLOCK!, 'utf8'))
  } catch {
    return now()
  }
}
