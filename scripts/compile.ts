// Loads what a first start and a first answer need, so that both find it in the compile cache, which NODE_COMPILE_CACHE names.
import 'ajv'
import 'fast-json-stringify'
import '../src/app.ts'
import '../src/cli/run.ts'
import '../src/cli/serve.ts'
import '../src/knowledge/ingest/ingest.ts'
import '../src/knowledge/questions.ts'
import '../src/sample.ts'
