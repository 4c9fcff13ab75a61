#!/usr/bin/env node
import { keepCompiled } from './compile-cache.ts'

keepCompiled()
// Imported here, so that it is kept.
const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))
