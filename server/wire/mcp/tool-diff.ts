export interface ToolDiff {
  readonly added: string[];
  readonly removed: string[];
  readonly changed: string[];
}

export function diffTools(
  before: readonly { readonly name: string; readonly hash: string }[],
  after: readonly { readonly name: string; readonly hash: string }[],
): ToolDiff {
  const old = new Map(before.map(({ name, hash }) => [name, hash]));
  const now = new Map(after.map(({ name, hash }) => [name, hash]));
  return {
    added: [...now.keys()].filter((name) => !old.has(name)).sort(),
    removed: [...old.keys()].filter((name) => !now.has(name)).sort(),
    changed: [...now]
      .filter(([name, hash]) => old.has(name) && old.get(name) !== hash)
      .map(([name]) => name)
      .sort(),
  };
}
