import { type ReactNode, useEffect, useId, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly caption: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly timeLabel: string;
  /** Label of the control that opens the data as a table. */
  readonly tableLabel: string;
  readonly height?: number;
}

const STROKES = ["--accent", "--warn", "--bad", "--good"];

/** A line chart of values over time, with the data as a table for screen readers. */
export function Chart({ caption, times, series, format, timeLabel, tableLabel, height = 220 }: ChartProps): ReactNode {
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const style = getComputedStyle(document.documentElement);
    const muted = style.getPropertyValue("--muted");
    const axis = { stroke: muted, grid: { stroke: style.getPropertyValue("--line"), width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: series.length > 1 },
        series: [
          {},
          ...series.map(({ label }, at) => ({
            label,
            stroke: style.getPropertyValue(STROKES[at % STROKES.length] ?? "--accent"),
            width: 2,
            points: { show: times.length < 2 },
          })),
        ],
        axes: [axis, { ...axis, size: 72, values: (_plot, ticks) => ticks.map(format) }],
        scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      },
      [[...times], ...series.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, format, height]);
  return (
    <figure aria-labelledby={id}>
      <figcaption id={id} className="mb-2 text-sm font-medium">
        {caption}
      </figcaption>
      <div ref={place} aria-hidden className="w-full overflow-hidden" />
      <details className="mt-2 text-sm">
        <summary className="w-fit cursor-pointer text-muted">{tableLabel}</summary>
        <div className="max-h-64 overflow-auto" tabIndex={0} role="region" aria-label={caption}>
          <table className="mt-2 w-full text-start tabular-nums">
            <thead>
              <tr>
                <th scope="col" className="text-start">
                  {timeLabel}
                </th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" className="text-end">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, at) => (
                <tr key={time}>
                  <th scope="row" className="text-start font-normal">
                    {new Date(time * 1000).toLocaleString(document.documentElement.lang)}
                  </th>
                  {series.map(({ label, values }) => (
                    <td key={label} className="text-end">
                      {values[at] == null ? "–" : format(values[at])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
