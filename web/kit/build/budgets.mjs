/** Kilobytes after gzip. */
export const BUDGETS = { entry: 200, route: 80, css: 20 };

/**
 * Returns one line for each part of a build that exceeds its budget. The entry is the first chunk with all its static imports. A route is a
 * chunk that is loaded later, not counting what the entry already loaded.
 */
export function overBudget(manifest, gzipped) {
  const kilobytes = (file) => (gzipped.get(file) ?? 0) / 1000;
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry === true);
  if (entry === undefined) return ["the build has no entry"];
  const first = new Set();
  const follow = (chunk) => {
    if (chunk === undefined || first.has(chunk.file)) return;
    first.add(chunk.file);
    for (const name of chunk.imports ?? []) follow(manifest[name]);
  };
  follow(entry);
  const problems = [];
  const check = (name, size, budget) => {
    if (size > budget) problems.push(`${name}: ${size.toFixed(1)} kB gzipped, more than ${budget}`);
  };
  check(
    "entry",
    [...first].reduce((sum, file) => sum + kilobytes(file), 0),
    BUDGETS.entry,
  );
  for (const { file, css = [] } of Object.values(manifest)) {
    if (file.endsWith(".js") && !first.has(file)) check(file, kilobytes(file), BUDGETS.route);
    for (const sheet of css) check(sheet, kilobytes(sheet), BUDGETS.css);
  }
  return problems;
}
