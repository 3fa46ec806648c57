import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readYaml } from "../../server/runtime/yaml.ts";
import { MAX_BYTES } from "../../server/kernel/files/file-kinds.ts";
import { callerAddress } from "../../server/kernel/http/caller-address.ts";
import { trustedProxies } from "../../server/kernel/http/trusted-proxies.ts";
import { VARIABLES } from "../../server/kernel/configuration/variables.ts";

interface Service {
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly env_file?: readonly object[];
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

const FOLDER = fileURLToPath(new URL("../../deploy/", import.meta.url));
const read = (path: string) => readFileSync(`${FOLDER}${path}`, "utf8");
const everything = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".json"))
  .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, "utf8"));
const defaultOf = (name: "GW_RUNTIME_PORT" | "GW_ADMIN_PORT" | "GW_AUDIT_JOURNAL_MAX_MB" | "GW_DRAIN_SECONDS") =>
  Number(VARIABLES[name].default);

test("deployment files use only existing settings", () => {
  const named = everything.flatMap((text) => [...text.matchAll(/\bGW_[A-Z_]+\b/g)].map(([name]) => name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !(name in VARIABLES))).toEqual([]);
});

test("deployment files use the gateway's ports", () => {
  const ports = [defaultOf("GW_RUNTIME_PORT"), defaultOf("GW_ADMIN_PORT")];
  expect(/^EXPOSE (.*)$/m.exec(read("Dockerfile"))?.[1]).toBe(ports.join(" "));
  expect([...read("compose.yaml").matchAll(/:(\d+)"$/gm)].map(([, port]) => Number(port))).toEqual(ports);
  expect([...read("helm/gatehouse/templates/statefulset.yaml").matchAll(/containerPort: (\d+)/g)].map(([, port]) => Number(port))).toEqual(
    ports,
  );
});

test("containers write to their volume and /tmp only, without privileges", () => {
  const compose = ["compose.yaml", "compose.fleet.yaml"].map((path) => readYaml(read(path)) as { services: Record<string, Service> });
  const gateways = compose.flatMap(({ services }) => Object.values(services).filter(({ image }) => image === "gatehouse"));
  expect(gateways).toHaveLength(4);
  for (const { read_only, tmpfs, cap_drop, security_opt, volumes, env_file } of gateways) {
    expect({ read_only, tmpfs, cap_drop, security_opt }).toEqual({
      read_only: true,
      tmpfs: ["/tmp"],
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
    // Settings in a `.env` file next to the Compose file are passed on.
    expect(env_file).toEqual([{ path: ".env", required: false }]);
    expect(volumes.map((one) => one.split(":")[1])).toEqual(["/data"]);
  }
  // Each has a data directory of its own: two processes must not share one.
  const fleet = Object.values(compose[1]?.services ?? {}).flatMap(({ image, volumes }) => (image === "gatehouse" ? volumes : []));
  expect(new Set(fleet).size).toBe(fleet.length);
});

test("process 1 of the image reaps orphans, which stopped scripts leave behind", () => {
  const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "[]");
  expect(entry).toEqual(["tini", "--", "gatehouse"]);
  expect(read("Dockerfile")).toMatch(/apt-get install .* tini /);
});

test("the fleet's Compose file assigns every role", () => {
  const { services } = readYaml(read("compose.fleet.yaml")) as { services: Record<string, Service> };
  const roles = Object.values(services).flatMap(({ environment }) => environment?.["GW_ROLES"]?.split(",") ?? []);
  expect(new Set(roles)).toEqual(new Set(VARIABLES.GW_ROLES.default.split(",")));
});

test("processes that need the first records start after the one that creates them", () => {
  const { services } = readYaml(read("compose.fleet.yaml")) as { services: Record<string, Service> };
  const gateways = Object.values(services).filter(({ image }) => image === "gatehouse");
  const isTold = ({ environment }: Service) => environment !== undefined && "GW_BOOTSTRAP_ADMIN_PASSWORD" in environment;
  expect(gateways.filter(isTold)).toEqual([services["control"] as Service]);
  for (const gateway of gateways.filter((one) => !isTold(one)))
    expect(gateway.depends_on?.["control"]).toEqual({ condition: "service_healthy" });
});

test("the fleet records the caller's address as the load balancer saw it, whatever X-Forwarded-For says", () => {
  const { services, configs } = readYaml(read("compose.fleet.yaml")) as {
    services: Record<string, Service>;
    configs: { balancer: { content: string } };
  };
  const { content } = configs.balancer;
  expect(content).toMatch(/^\s+option forwardfor$/m);
  const isDropped = /^\s+http-request del-header X-Forwarded-For$/m.test(content);
  const [, proxies = ""] = /^\$\{GW_TRUSTED_PROXIES:-(.*)\}$/.exec(services["runtime-1"]?.environment?.["GW_TRUSTED_PROXIES"] ?? "") ?? [];
  for (const caller of ["192.168.1.50", "172.18.0.1", "198.51.100.7"]) {
    const sent = new Headers({ "x-forwarded-for": `${isDropped ? "" : "203.0.113.9, "}${caller}` });
    expect(callerAddress("172.18.0.5", sent, trustedProxies.parse(proxies))).toBe(caller);
  }
});

test("the load balancer finds a recreated container at its new address", () => {
  const { configs } = readYaml(read("compose.fleet.yaml")) as { configs: { balancer: { content: string } } };
  const { content } = configs.balancer;
  expect(content).toMatch(/^resolvers docker\n\s+nameserver dns 127\.0\.0\.11:53$/m);
  expect(content).toMatch(/^\s+default-server .*resolvers docker .*init-addr libc,none$/m);
});

test("proxies in front of the gateway accept the largest file", () => {
  const most = [
    /client_max_body_size (\d+)m;/.exec(read("../docs/guides/deploying.md")),
    /proxy-body-size: (\d+)m/.exec(read("helm/gatehouse/values.yaml")),
  ];
  for (const found of most) expect(Number(found?.[1]) * 1024 * 1024).toBeGreaterThan(MAX_BYTES);
});

test("a pod has room for a full journal, and the grace period covers a drain", () => {
  expect(Number(/size: (\d+)Gi/.exec(read("helm/gatehouse/values.yaml"))?.[1]) * 1024).toBeGreaterThan(
    defaultOf("GW_AUDIT_JOURNAL_MAX_MB"),
  );
  expect(Number(/drainSeconds: (\d+)/.exec(read("helm/gatehouse/values.yaml"))?.[1])).toBe(defaultOf("GW_DRAIN_SECONDS"));
  expect(Number(/stop_grace_period: (\d+)s/.exec(read("compose.yaml"))?.[1])).toBeGreaterThan(defaultOf("GW_DRAIN_SECONDS"));
});

test("health checks do not remove processes that serve calls while the database is down", () => {
  expect(read("compose.fleet.yaml")).toContain("httpchk GET /readyz?for=calls");
  expect(read("helm/gatehouse/templates/statefulset.yaml")).toMatch(/readinessProbe:\s+httpGet: .*has "runtime".*\/readyz\?for=calls/);
  expect(read("Dockerfile")).toMatch(/^HEALTHCHECK .*\/readyz\?for=calls/m);
});

test("the image copies every workspace", () => {
  const { workspaces } = JSON.parse(readFileSync(`${FOLDER}../package.json`, "utf8")) as { workspaces: string[] };
  const copied = [...read("Dockerfile").matchAll(/^COPY (\S+?)(?:\/package\.json)? \.\//gm)].map(([, from]) => from);
  for (const workspace of workspaces) expect(copied).toContain(workspace.replace("/*", ""));
});

test("several pods need a shared file store, unless filesPerPod is set", () => {
  const chart = read("helm/gatehouse/templates/statefulset.yaml");
  expect(chart).toMatch(
    /if and \$several \(has "runtime" \.Values\.roles\) \(not \.Values\.env\.GW_BLOB_URL\) \(not \.Values\.filesPerPod\)/,
  );
  expect(chart).toMatch(/fail ".*env\.GW_BLOB_URL.*filesPerPod.*"/);
  expect(readYaml(read("helm/gatehouse/values.yaml"))).toMatchObject({ replicas: 2, filesPerPod: false });
  // The commands in the guide install exactly this.
  expect(/^helm install (?:.*\\\n)*.*$/m.exec(read("../docs/guides/deploying.md"))?.[0]).toContain("--set env.GW_BLOB_URL=s3://");
});

test("the chart uses all of its values and no others, and allows further volumes", () => {
  const templates = readdirSync(`${FOLDER}helm/gatehouse/templates`).map((name) => read(`helm/gatehouse/templates/${name}`));
  const used = templates.flatMap((text) => [...text.matchAll(/\.Values\.(\w+)/g)].map(([, name]) => name as string));
  const values = Object.keys(readYaml(read("helm/gatehouse/values.yaml")) as object);
  expect(new Set(used)).toEqual(new Set(values));
  expect(values).toEqual(expect.arrayContaining(["volumes", "volumeMounts"]));
});
