# An HTTP client that runs on a board: Debian always has Perl, but not always curl.
#
# Usage: client.pl requests COUNT CLIENTS   sends requests over connections that are kept,
#                                           and prints how many were answered a second,
#                                           and the median and 99th percentile of how long
#                                           an answer took, in ms
#        client.pl answer [COMMAND...]      runs a command, and prints after how many
#                                           seconds a request is answered with 200
#        client.pl flood COUNT              holds connections for 5 s, and prints after how
#                                           many seconds another client gets an answer
use strict;
use warnings;
use POSIX qw(uname);
use Socket;

# Returns a time in seconds. Debian's smallest Perl lacks Time::HiRes
my $clock_gettime = (uname())[4] eq "aarch64" ? 113 : 228;
sub now {
  my $time = pack "qq", 0, 0;
  syscall $clock_gettime, 1, $time; # CLOCK_MONOTONIC
  my ($seconds, $nanoseconds) = unpack "qq", $time;
  return $seconds + $nanoseconds / 1e9;
}

sub open_connection {
  socket(my $socket, PF_INET, SOCK_STREAM, 0) or die "$!\n";
  connect($socket, pack_sockaddr_in(5000, INADDR_LOOPBACK)) or return;
  return $socket;
}

sub send_request {
  my ($socket, $query) = @_;
  syswrite($socket, "GET /datasensor?$query HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

# Returns the status of a response, or 0 if the connection was closed
sub receive {
  my ($socket) = @_;
  my $response = "";
  until ($response =~ /\r\n\r\n/ && length($response) >= $+[0] + body_length($response)) {
    sysread($socket, $response, 65536, length $response) or return 0;
  }
  return $response =~ m{^HTTP/1\.1 (\d+)} ? $1 : 0;
}

sub body_length {
  my ($response) = @_;
  return $response =~ /^content-length: (\d+)/mi ? $1 : 0;
}

sub requests {
  my ($count, $clients) = @_;
  my @sockets = map { open_connection() or die "Refused\n" } 1 .. $clients;
  my @durations;
  my $begin = now();
  for my $round (1 .. $count / $clients) {
    # The journal keeps equal lines once
    my @sent = map { send_request($sockets[$_], "$_.$round"); now() } 0 .. $#sockets;
    for my $client (0 .. $#sockets) {
      receive($sockets[$client]) == 200 or die "A request was not answered with 200\n";
      push @durations, 1000 * (now() - $sent[$client]);
    }
  }
  my $rate = @durations / (now() - $begin);
  @durations = sort { $a <=> $b } @durations;
  printf "%.0f %.2f %.2f\n", $rate, $durations[@durations / 2], $durations[@durations * 0.99];
}

sub answer {
  my $begin = now();
  if (@_) { system(@_) == 0 or die "@_ failed\n" }
  wait_for_answer($begin + 100) or die "No answer for 100 s\n";
  printf "%.2f\n", now() - $begin;
}

sub flood {
  my ($count) = @_;
  my $begin = now();
  my @sockets = map { open_connection() } 1 .. $count;
  my $is_answered = wait_for_answer($begin + 5);
  @sockets = (); # closes them
  $is_answered or wait_for_answer($begin + 100) or die "No answer for 95 s\n";
  printf "%.2f\n", now() - $begin;
}

# Asks until it is answered or a time has come, and returns whether it was
sub wait_for_answer {
  my ($end) = @_;
  while (now() < $end) {
    return 1 if is_answered();
    select undef, undef, undef, 0.01;
  }
  return 0;
}

sub is_answered {
  my $socket = open_connection() or return 0;
  setsockopt($socket, SOL_SOCKET, SO_RCVTIMEO, pack("l!l!", 1, 0));
  send_request($socket, "answer");
  return receive($socket) == 200;
}

$SIG{PIPE} = "IGNORE";
my ($what, @arguments) = @ARGV;
{ requests => \&requests, answer => \&answer, flood => \&flood }->{$what}->(@arguments);
