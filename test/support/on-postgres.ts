// For `node --test --test-global-setup`: the services of all test files keep their conversations in PostgreSQL.
import { globalSetup as startServer } from './with-postgres.ts'

export { globalTeardown } from './with-postgres.ts'

export async function globalSetup(): Promise<void> {
  process.env.TEST_ENGINE = 'postgres'
  await startServer()
}
