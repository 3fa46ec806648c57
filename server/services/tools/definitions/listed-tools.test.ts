import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { knownTool, rememberTools } from "./listed-tools.ts";
import { toolServerState } from "./tool-server-state.ts";

const server = { id: "mcp-1", tools: new Map() } as unknown as ToolServerEntry;
const page = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `tool ${from + at}`, inputSchema: { type: "object" } }));

test("later pages of a list add to the first, and a server that always lists other tools does not fill the memory", () => {
  const memory = toolServerState();
  rememberTools(memory, server, page(0, 10));
  expect(rememberTools(memory, server, page(10, 10)).size).toBe(20);
  expect(knownTool(memory, server, "tool 0")).not.toBeNull();
  let most = 0;
  for (let list = 1; list < 40; list++) most = Math.max(most, rememberTools(memory, server, page(list * 1_000, 1_000)).size);
  expect(most).toBeLessThanOrEqual(10_000);
  expect(knownTool(memory, server, "tool 39999")).not.toBeNull();
  // A single list may exceed the limit for lists kept together.
  expect(rememberTools(memory, server, page(0, 12_000)).size).toBe(12_000);
});

test("a server with very long tool names does not fill the memory, in one list or in many", () => {
  const memory = toolServerState();
  const long = (at: number, length: number) => [{ name: `${at} ${"x".repeat(length)}`, inputSchema: { type: "object" } }];
  const kept = () => [...(memory.listed.get(server.id)?.tools.keys() ?? [])].reduce((sum, name) => sum + name.length, 0);
  let most = 0;
  for (let list = 0; list < 40; list++) {
    rememberTools(memory, server, long(list, 1_000_000));
    most = Math.max(most, kept());
  }
  expect(most).toBeLessThan(5_000_000);
  expect(rememberTools(memory, server, long(0, 10_000_000)).size).toBe(1);
  expect(kept()).toBe(0);
});
