/** Reads YAML, and JSON, which is a part of it. Throws an error that says what it is not. */
export function readYaml(text: string): unknown {
  return Bun.YAML.parse(text);
}

/** As text that is read and compared line by line: without anchors, which parts of one object would otherwise become. */
export function yamlOf(value: unknown): string {
  return `${Bun.YAML.stringify(JSON.parse(JSON.stringify(value)), null, 2)}\n`;
}
