import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { type CodeSample } from "./code-samples.ts";
import { CopyButton } from "./copy-button.tsx";
import { keepBrowserText, browserText } from "./page-storage.ts";

const STORAGE_KEY = "gatehouse.sample-language";

/** Code samples in several languages, one at a time. The chosen language is remembered across pages. */
export function CodeSamplesView({ samples, label }: { readonly samples: readonly CodeSample[]; readonly label: string }): ReactNode {
  const id = useId();
  const tabs = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState(() => browserText("localStorage", STORAGE_KEY) ?? "");
  const at = Math.max(
    samples.findIndex(({ language }) => language === chosen),
    0,
  );
  const shown = samples[at];
  const choose = (index: number) => {
    const { language } = samples[index] ?? { language: "" };
    keepBrowserText("localStorage", STORAGE_KEY, language);
    setChosen(language);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + samples.length) % samples.length;
    choose(next);
    tabs.current?.querySelectorAll<HTMLButtonElement>("[role=tab]")[next]?.focus();
  };
  if (shown === undefined) return null;
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex items-center justify-between gap-2 border-b border-line bg-surface pr-1">
        <div ref={tabs} role="tablist" aria-label={label} onKeyDown={onKeyDown} className="flex min-w-0 flex-wrap">
          {samples.map(({ language }, index) => (
            <button
              key={language}
              type="button"
              role="tab"
              id={`${id}-tab-${index}`}
              aria-selected={index === at}
              aria-controls={`${id}-code`}
              tabIndex={index === at ? 0 : -1}
              onClick={() => choose(index)}
              className="min-h-9 border-b-2 border-transparent px-3 text-sm text-muted aria-selected:border-accent aria-selected:text-ink"
            >
              {language}
            </button>
          ))}
        </div>
        <CopyButton text={shown.code} label={`Copy the ${shown.language} sample`} doneLabel="Copied" />
      </div>
      <pre
        id={`${id}-code`}
        role="tabpanel"
        aria-labelledby={`${id}-tab-${at}`}
        tabIndex={0}
        className="max-h-96 overflow-auto p-3 font-mono text-xs whitespace-pre"
      >
        {shown.code}
      </pre>
    </div>
  );
}
