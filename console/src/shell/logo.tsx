export const Logo = ({ size = 24 }: { size?: number }) => (
  <svg className="logo" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
    <rect width="24" height="24" rx="6.5" />
    <path d="M6.5 7.5h7a4 4 0 0 1 0 8H10l-3.5 3z" />
  </svg>
)
