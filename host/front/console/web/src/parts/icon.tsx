// Strokes of 24 by 24, drawn for the console.
const strokes: Record<string, string> = {
  memories: 'M5 4h14v16H5z M9 9h6 M9 13h6 M9 17h3',
  time: 'M12 3a9 9 0 1 0 .1 0z M12 7v5l3 3',
  branches: 'M7 4v16 M7 14c0-4 10-2 10-7 M17 7a2 2 0 1 0-.1 0z M7 4a0 0 0 1 0 .1 0',
  sessions: 'M4 5h16v11H9l-5 4z M8 9h8 M8 12h5',
  graph: 'M6 7a2 2 0 1 0-.1 0z M18 9a2 2 0 1 0-.1 0z M11 20a2 2 0 1 0-.1 0z M7.8 6.2l8.4 .8 M6.7 7l3.6 10 M17 9l-5 7.5',
  families: 'M4 4h7v7H4z M13 4h7v7h-7z M4 13h7v7H4z M16.5 13v7 M13 16.5h7',
  operator: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z M9 12l2 2 4-4',
  search: 'M10 4a6 6 0 1 0 .1 0z M15 14.5L20 20',
  menu: 'M4 7h16 M4 12h16 M4 17h16',
  out: 'M10 4H5v16h5 M14 8l4 4-4 4 M18 12H9',
  pin: 'M9 4h6l-1 6 3 3H7l3-3z M12 13v7',
  theme: 'M12 3a9 9 0 1 0 .1 0z M12 3v18',
}

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={strokes[name] ?? ''} />
    </svg>
  )
}
