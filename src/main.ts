#!/usr/bin/env node
// The entry point of the published package. In a source checkout, run `start.js` directly: it does the same and starts faster.
import './start.js'
