import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { clientGateway } from "../tests/conformance/client-gateway.ts";
import { CLIENT_SCENARIOS, measureClient, measureServer, SERVER_PAIRS } from "../tests/conformance/measure.ts";
import { PAGE, page } from "../tests/conformance/page.ts";
import { governedFixtures } from "../tests/conformance/through-gateway.ts";
import { startWorld } from "../tests/support/world.ts";

/** Runs every measurement once, with a gateway and a database of its own, and writes the page. */

const postgres = spawn(process.execPath, [fileURLToPath(new URL("throwaway-postgres.ts", import.meta.url))], {
  stdio: ["pipe", "pipe", "inherit"],
});
const ended = new Promise((resolve) => postgres.once("exit", resolve));
try {
  for await (const url of createInterface({ input: postgres.stdout })) {
    process.env.TEST_DATABASE_URL = url;
    break;
  }
  const world = await startWorld();
  const governed = await governedFixtures(world);
  const client = await clientGateway();
  try {
    const servers = [];
    for (const [revision, dialect] of SERVER_PAIRS) servers.push(await measureServer(governed, revision, dialect));
    const clients = [];
    for (const [revision, scenario] of CLIENT_SCENARIOS) clients.push(await measureClient(client, revision, scenario));
    writeFileSync(PAGE, page(servers, clients));
  } finally {
    await client.end();
    await governed.stop();
    await world.end();
  }
} finally {
  postgres.stdin.end();
  await ended;
}
process.exit(0);
