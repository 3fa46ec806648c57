#!/usr/bin/env node
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";
import { restartOnChange } from "./development.mjs";
import { SERVER_MAIN, serverProgram } from "./server-bundle.mjs";

const HELP = `Usage: gatehouse [command]

  start        run the gateway (the default); settings are environment variables, see docs/reference/configuration.md
  dev          run the gateway and restart it when its source changes
  audit ...    verify and export the ledger, see gatehouse audit --help
  backup ...   write a backup, see gatehouse backup --help
  config ...   keep a tenant's configuration in a file, see gatehouse config --help
  doctor       check settings, files, database and ledger
  import ...   convert another gateway's configuration, see gatehouse import --help
  reset-2fa .. reset an administrator's second factor, see gatehouse reset-2fa --help
  reset-password ...
               give an administrator a new password, see gatehouse reset-password --help
  restore ...  restore a backup into an empty database, see gatehouse restore --help
  rotate-secret-key ...
               encrypt stored secrets under a new key, see gatehouse rotate-secret-key --help
  scout ...    report AI clients and tool servers on this device to a gateway, see gatehouse scout --help
  verify ...   verify a certificate or a sealed report, see gatehouse verify --help
  run FILE     run a TypeScript file of this project
  --version    print the version
  --help       print this text
`;

const SCOUT = fileURLToPath(new URL("../packages/scout/src/main.ts", import.meta.url));
/** Bun caches transpiled source under the user's home; commands that only read something should leave nothing behind. */
const LEAVES_NOTHING = { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Starts Bun with our stdio. It ends with this process: see server/runtime/parent-process.ts. */
function startBun(args, env = {}) {
  return spawn(findBun(), [...BUN_FLAGS, ...args], {
    stdio: "inherit",
    env: { ...bunEnvironment(), ...env, GATEHOUSE_LAUNCHER_PID: String(process.pid) },
  });
}

/** Replaces this process by Bun; does not return. */
function becomeBun(args, env) {
  const bun = findBun();
  // An inherited launcher PID would make the gateway end when that process does.
  const { GATEHOUSE_LAUNCHER_PID: _, ...all } = { ...bunEnvironment(), ...env };
  // Suppresses Node's warning that execve is experimental, which does not concern users.
  process.removeAllListeners("warning");
  process.execve(bun, [bun, ...BUN_FLAGS, ...args], all);
}

function forwardSignals(currentChild) {
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole foreground process group, so the child already has it; a second one would mean "hurry".
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      currentChild()?.kill(signal);
    });
  }
}

function endLike(code, signal) {
  if (signal === null) process.exit(code);
  for (const name of SIGNALS) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  // Reached only if the signal does not end this process.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
}

/** Replaces this process by Bun if Node supports it, to free its memory; otherwise runs Bun as a child. */
function runToEnd(args, env = {}) {
  if (process.execve !== undefined) return becomeBun(args, env);
  const child = startBun(args, env);
  forwardSignals(() => child);
  child.on("error", fail);
  child.on("exit", endLike);
}

function fail(error) {
  process.stderr.write(`gatehouse: ${error.message}\n`);
  process.exit(1);
}

/** Builds the pages alongside the gateway, which serves the newest build: a change to a page restarts nothing. */
function buildPagesOnChange() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../web/kit/build/build-pages.mjs", import.meta.url)), "--watch"], {
    stdio: "inherit",
  });
  process.on("exit", () => child.kill());
}

/** Rejects arguments, because ignoring them silently would suggest that they had an effect. */
function withoutArguments(command, rest) {
  if (rest.length > 0)
    throw new Error(`${command} takes no arguments (it got ${rest.join(" ")}): settings are environment variables (see gatehouse --help)`);
}

function main([command = "start", ...rest]) {
  if ((command === "start" || command === "dev") && (rest[0] === "--help" || rest[0] === "-h")) return process.stdout.write(HELP);
  switch (command) {
    case "start":
      withoutArguments(command, rest);
      return runToEnd([serverProgram(), command]);
    case "audit":
    case "backup":
    case "config":
    case "doctor":
    case "import":
    case "reset-2fa":
    case "reset-password":
    case "rotate-secret-key":
    case "restore":
    case "verify":
      return runToEnd([serverProgram(), command, ...rest], LEAVES_NOTHING);
    case "scout":
      return runToEnd([SCOUT, ...rest], LEAVES_NOTHING);
    case "run":
      if (rest.length === 0) throw new Error("run needs a file");
      return runToEnd(rest);
    case "dev":
      withoutArguments(command, rest);
      buildPagesOnChange();
      return restartOnChange({
        start: () =>
          startBun([SERVER_MAIN, "start"], { GW_DRAIN_NOTICE_SECONDS: "0", GW_DRAIN_SECONDS: process.env.GW_DRAIN_SECONDS ?? "1" }),
        forwardSignals,
        end: endLike,
      });
    case "--version":
    case "-v":
      return process.stdout.write(`${JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version}\n`);
    case "--help":
    case "-h":
    case "help":
      return process.stdout.write(HELP);
    default:
      throw new Error(`there is no command ${JSON.stringify(command)} (see gatehouse --help)`);
  }
}

try {
  main(process.argv.slice(2));
} catch (error) {
  fail(error);
}
