import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VARIABLES } from "../../server/kernel/variables.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/", import.meta.url));
const read = (path: string) => readFileSync(`${FOLDER}${path}`, "utf8");
const everything = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".json"))
  .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, "utf8"));
const defaultOf = (name: "GW_RUNTIME_PORT" | "GW_ADMIN_PORT" | "GW_AUDIT_JOURNAL_MAX_MB" | "GW_DRAIN_SECONDS") =>
  Number(VARIABLES[name].default);

test("what is deployed knows the gateway's settings, and no other", () => {
  const named = everything.flatMap((text) => [...text.matchAll(/\bGW_[A-Z_]+\b/g)].map(([name]) => name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !(name in VARIABLES))).toEqual([]);
});

test("its ports are the gateway's", () => {
  const ports = [defaultOf("GW_RUNTIME_PORT"), defaultOf("GW_ADMIN_PORT")];
  expect(/^EXPOSE (.*)$/m.exec(read("Dockerfile"))?.[1]).toBe(ports.join(" "));
  expect([...read("compose.yaml").matchAll(/:(\d+)"$/gm)].map(([, port]) => Number(port))).toEqual(ports);
  expect([...read("helm/gatehouse/templates/statefulset.yaml").matchAll(/containerPort: (\d+)/g)].map(([, port]) => Number(port))).toEqual(
    ports,
  );
});

test("a pod has room for a full journal, and nobody is killed in the middle of a drain", () => {
  expect(Number(/size: (\d+)Gi/.exec(read("helm/gatehouse/values.yaml"))?.[1]) * 1024).toBeGreaterThan(
    defaultOf("GW_AUDIT_JOURNAL_MAX_MB"),
  );
  expect(Number(/drainSeconds: (\d+)/.exec(read("helm/gatehouse/values.yaml"))?.[1])).toBe(defaultOf("GW_DRAIN_SECONDS"));
  expect(Number(/stop_grace_period: (\d+)s/.exec(read("compose.yaml"))?.[1])).toBeGreaterThan(defaultOf("GW_DRAIN_SECONDS"));
});

test("the image takes in every workspace that the lock file names", () => {
  const { workspaces } = JSON.parse(readFileSync(`${FOLDER}../package.json`, "utf8")) as { workspaces: string[] };
  const copied = [...read("Dockerfile").matchAll(/^COPY (\S+?)(?:\/package\.json)? \.\//gm)].map(([, from]) => from);
  for (const workspace of workspaces) expect(copied).toContain(workspace.replace("/*", ""));
});
