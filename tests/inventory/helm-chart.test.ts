import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readYaml } from "../../server/runtime/yaml.ts";

const CHART = fileURLToPath(new URL("../../deploy/helm/gatehouse/", import.meta.url));
const read = (path: string) => readFileSync(`${CHART}${path}`, "utf8");
const helm = Bun.which("helm");

test("the chart passes numbers and booleans in settings to a pod as they were written", () => {
  const statefulset = read("templates/statefulset.yaml");
  expect(statefulset).toContain('value: {{ include "gatehouse.setting" $value | quote }}');
  expect(statefulset.match(/value: \{\{ \.Values\.\w+ \| quote \}\}/g)).toBeNull();
});

test("an autoscaler and a monitor are optional, and an autoscaler is not overridden by a fixed replica count", () => {
  expect(readYaml(read("values.yaml"))).toMatchObject({ autoscaling: { enabled: false }, serviceMonitor: { enabled: false } });
  expect(read("templates/autoscaler.yaml")).toStartWith("{{- if .Values.autoscaling.enabled }}");
  expect(read("templates/service-monitor.yaml")).toStartWith("{{- if .Values.serviceMonitor.enabled }}");
  expect(read("templates/statefulset.yaml")).toMatch(/if not \.Values\.autoscaling\.enabled \}\}\s+replicas:/);
});

/** Renders the chart with Helm. */
function rendered(values: string): Record<string, any>[] {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [helm as string, "template", "gatehouse", CHART, "--kube-version", "1.31.0", "--values", "-"],
    { stdin: Buffer.from(values) },
  );
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  return stdout
    .toString()
    .split(/^---$/m)
    .map((text) => readYaml(text) as Record<string, any> | null)
    .filter((one) => one !== null);
}

if (helm !== null)
  test("Helm renders the requested settings and objects", () => {
    const given = rendered(
      "env: { GW_STRANGER_ROWS_PER_MINUTE: 6000000, GW_QUICKSTART: off, OTEL_TRACES_SAMPLER_ARG: 0.25 }\ndrainSeconds: 3000000\n",
    );
    const env = given.find(({ kind }) => kind === "StatefulSet")?.["spec"].template.spec.containers[0].env ?? [];
    expect(Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value]))).toMatchObject({
      GW_STRANGER_ROWS_PER_MINUTE: "6000000",
      GW_QUICKSTART: "off",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      GW_DRAIN_SECONDS: "3000000",
    });
    expect(given.map(({ kind }) => kind).toSorted()).toEqual(["PodDisruptionBudget", "Service", "Service", "Service", "StatefulSet"]);
    const scaled = rendered("autoscaling: { enabled: true }\nserviceMonitor: { enabled: true, labels: { release: prometheus } }\n");
    const of = (kind: string) => scaled.find((one) => one["kind"] === kind);
    expect(of("StatefulSet")?.["spec"].replicas).toBeUndefined();
    expect(of("HorizontalPodAutoscaler")?.["spec"]).toMatchObject({ scaleTargetRef: { name: of("StatefulSet")?.["metadata"].name } });
    expect(of("ServiceMonitor")).toMatchObject({
      metadata: { labels: { release: "prometheus" } },
      spec: { endpoints: [{ port: "control", path: "/metrics" }] },
    });
  });
