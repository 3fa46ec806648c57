import { expect, test } from "bun:test";
import { normalizedAddress } from "./normalized-address.ts";

test.each([
  ["https://user:secret@mcp.vendor.example/mcp?key=secret#secret", "https://mcp.vendor.example/mcp"],
  ["https://secret@mcp.vendor.example", "https://mcp.vendor.example"],
  ["https://a@b@mcp.vendor.example/x@y", "https://mcp.vendor.example/x@y"],
  ["https:\\\\secret@mcp.vendor.example", "https://mcp.vendor.example"],
  ["http://${HOST}/mcp?token=${TOKEN}", "http://${HOST}/mcp"],
  ["http://127.0.0.1:8080/v1/proxy/mcp/mcp-1", "http://127.0.0.1:8080/v1/proxy/mcp/mcp-1"],
  ["?key=secret", ""],
])("the reported address %s is stored as %s", (told, kept) => {
  expect(normalizedAddress(told)).toBe(kept);
});
