#!/usr/bin/env node
// The program as it is published. From its source, begin with `start.js`: it is the same, and sooner there.
import './start.js'
