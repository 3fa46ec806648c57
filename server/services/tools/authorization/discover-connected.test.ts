import { expect, test } from "bun:test";
import type { Directory } from "../../../directory/writes/write.ts";
import { connectedDiscovery } from "./discover-connected.ts";

test("a failed discovery reports the server, and does not fail the call", async () => {
  const failures: string[] = [];
  const directory = { db: null, secrets: null } as unknown as Directory;
  const discover = () => Promise.reject(new Error("unasked"));
  const discovery = connectedDiscovery(
    directory,
    { discover } as never,
    async () => undefined,
    (tenantId, serverId, error) => failures.push(`${tenantId} ${serverId} ${error instanceof Error}`),
  );
  await discovery.learn("acme", "mcp-1", "token");
  expect(failures).toEqual(["acme mcp-1 true"]);
});
