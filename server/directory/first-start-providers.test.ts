import { expect, test } from "bun:test";
import { hostAddress } from "./first-start-providers.ts";

test.each([
  ["127.0.0.1", "http://127.0.0.1:11434/v1"],
  ["box:8080", "http://box:8080/v1"],
  ["https://ollama.test", "https://ollama.test/v1"],
  ["http://box:11434/v1/", "http://box:11434/v1"],
])("the host %s becomes the base_url %s", (given, address) => expect(hostAddress(given)).toBe(address));
