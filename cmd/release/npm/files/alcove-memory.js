#!/usr/bin/env node
// Runs the program that npm installed for this platform. Where Node can, it becomes that program, so that no process of Node stays beside it.
"use strict";

const { spawn } = require("node:child_process");
const { accessSync, constants } = require("node:fs");
const { optionalDependencies, homepage, version } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const name = `@alcove-memory/${platform}`;

function fail(message) {
  console.error(`alcove-memory: ${message}`);
  process.exit(1);
}

function find() {
  if (!optionalDependencies[name]) {
    const known = Object.keys(optionalDependencies).map((n) => n.split("/")[1]).join(", ");
    fail(`there is no program for ${platform}, only for ${known}.\nBuild it from source: ${homepage}`);
  }
  try {
    return require.resolve(`${name}/bin/alcove${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    fail(`this machine is ${platform}, and the package ${name} is not installed.
It is an optional dependency: --omit=optional, or --no-optional of an older npm, leaves it out, and a node_modules from another platform lacks it.
Install it: npm install --include=optional alcove-memory@${version}`);
  }
}

// become replaces this process, with Node 22.15 or newer. Node ends with a core dump where that fails, so what can be checked is checked before.
function become(program, args) {
  accessSync(program, constants.X_OK);
  process.execve(program, [program, ...args], process.env);
}

// run passes signals on to the program, and its exit on to who started this process.
function run(program, args) {
  const child = spawn(program, args, { stdio: "inherit", windowsHide: true });
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"]) {
    // A terminal sends its own signals to both processes.
    const both = terminal && (signal === "SIGINT" || signal === "SIGQUIT");
    process.on(signal, () => both || child.kill(signal));
  }
  child.on("error", (err) => fail(`run ${program}: ${err.message}`));
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const program = find();
try {
  const start = process.execve && process.platform !== "win32" ? become : run;
  start(program, process.argv.slice(2));
} catch (err) {
  fail(`run ${program}: ${err.message}`);
}
