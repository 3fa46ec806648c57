import process from "node:process";

/** Uses too much of the resource named by its argument. */
const held: Uint8Array[] = [];
switch (process.argv[2]) {
  case "loops":
    for (;;);
  case "grows":
    for (;;) held.push(new Uint8Array(64 * 1024 * 1024).fill(1));
  case "talks":
    for (;;) await new Promise((resolve) => process.stdout.write("x".repeat(100_000), resolve));
  case "tells":
    process.stdout.write(JSON.stringify(process.env));
    break;
  default:
    process.kill(process.pid, "SIGSEGV");
}
