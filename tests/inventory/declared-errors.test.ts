import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ERRORS } from "../../server/kernel/errors.ts";

const SERVER = fileURLToPath(new URL("../../server/", import.meta.url));

test("every declared error is used by the server", () => {
  const files = readdirSync(SERVER, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("node_modules") && path !== "kernel/errors.ts",
  );
  const code = files.map((path) => readFileSync(SERVER + path, "utf8")).join("\n");
  expect(Object.keys(ERRORS).filter((name) => !code.includes(`"${name}"`) && !code.includes(`ERRORS.${name}`))).toEqual([]);
});
